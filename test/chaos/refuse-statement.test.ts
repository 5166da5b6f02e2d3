import { expect, test } from 'vitest';
import { openCleanStore } from '../ledger/clean-store.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { refuseStatement } from './refuse-statement.ts';

const expected = {
  sqlite: { locked: 'SQLITE_BUSY', 'disk full': 'SQLITE_FULL' },
  postgres: { locked: '55P03', 'disk full': '53100' },
};
const cases = bothDialects.flatMap((dialect) =>
  (['locked', 'disk full'] as const).flatMap((refusal) => [1, 2, 9].map((nth) => ({ dialect, refusal, nth }))),
);

test.for(cases)('$dialect: $refusal at statement $nth undoes the transaction, and nothing after it', async (each) => {
  const { dialect, refusal, nth } = each;
  const store = await openCleanStore(dialect);
  const keys = async (): Promise<string[]> =>
    (await store.db.selectFrom('meta').select('key').where('key', 'like', 'tried%').execute()).map(({ key }) => key);
  const add = (refused: boolean): Promise<void> =>
    store.transaction(async (tx) => {
      if (refused) await refuseStatement(tx, refusal, nth);
      for (const key of ['tried 1', 'tried 2'])
        await tx
          .insertInto('meta')
          .values({ key: `${key} ${refused}`, value: '' })
          .execute();
    });
  await expect(add(true)).rejects.toMatchObject({ code: expected[dialect][refusal] });
  expect(await keys()).toEqual([]);
  await add(false);
  expect(await keys()).toEqual(['tried 1 false', 'tried 2 false']);
  await store.db.deleteFrom('meta').where('key', 'like', 'tried%').execute();
});
