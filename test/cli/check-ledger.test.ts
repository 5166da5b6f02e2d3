import { expect, onTestFinished, test } from 'vitest';
import type { ListRow } from '../../src/campaign/recipients.ts';
import { openCheckedLedger } from '../../src/cli/check-ledger.ts';
import { readConfig } from '../../src/config.ts';
import { accountScope, addSuppressions } from '../../src/store/suppressions.ts';
import { buildRules, hourMs } from '../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers } from '../store/scenario.ts';
import { dialects, emptyDatabase, openAt, type TestDialect } from '../store/test-stores.ts';

function rowsOf(list: readonly string[]): ListRow[] {
  return list.map((e164, index) => ({
    row: index + 1,
    line: index + 2,
    cells: [],
    verdict: 'accepted',
    externalId: null,
    e164,
    zones: ['America/New_York'],
    country: 'US',
    regions: null,
    notBefore: null,
    expiresAt: null,
  }));
}

/** A database in which one campaign has called six numbers at noon, and what a check of another one finds in it. */
async function checkedAfterCalls(dialect: TestDialect, at: number) {
  const location = await emptyDatabase(dialect);
  const store = await openAt(location);
  const spring = await beginProven(store);
  await spring.dial(1);
  const [reached = ''] = numbers(1);
  await spring.sweep(noon + hourMs, [answered('conv_1', reached, noon + 1000)]);
  const rules = buildRules({
    caps: [{ by: 'number', calls: 1, withinMs: 24 * hourMs }],
    retry: { ...buildRules().retry, maxAttemptsPerNumber: 1 },
  });
  const config = readConfig({ CARILLON_DB: location.sqlitePath, DATABASE_URL: location.databaseUrl });
  const ledger = await openCheckedLedger(config, { campaignId: 'summer', rules, at });
  onTestFinished(() => ledger.close());
  return { store, ledger };
}

test.each(dialects)('calls of another campaign count for caps and for the budget of a number (%s)', async (dialect) => {
  const at = noon + 2 * hourMs;
  const { ledger } = await checkedAfterCalls(dialect, at);
  const [reached = '', called = ''] = numbers(2);
  const found = await ledger.look(rowsOf([reached, called, '+12125550190']));
  const tell = (e164: string) => {
    const callee = { e164, person: null };
    return [found?.capsAllowAt(callee), found?.budgetAllowsAt(callee)];
  };
  expect(tell(reached)).toEqual([noon + 24 * hourMs, null]);
  expect(tell(called)).toEqual([noon + 24 * hourMs, at]);
  expect(tell('+12125550190')).toEqual([at, at]);
});

test.each(dialects)('any number of rows is looked up on the do-not-call list (%s)', async (dialect) => {
  const { store, ledger } = await checkedAfterCalls(dialect, noon);
  const many = Array.from({ length: 1200 }, (_, index) => `+1212555${String(index).padStart(4, '0')}`);
  const listed = many.filter((_, index) => index % 100 === 99);
  const entry = { source: 'person', reason: null, expiresAt: null };
  await addSuppressions(
    store,
    listed.map((e164) => ({ ...entry, e164, scope: accountScope })),
    noon,
  );
  const found = await ledger.look(rowsOf(many));
  expect([...(found?.suppressed ?? [])].sort()).toEqual(listed);
});
