import { expectTypeOf, test } from 'vitest';
import { compareAndSetBatch } from '../../src/ledger/batch-state.ts';
import { appendEvents, readEvents } from '../../src/ledger/events.ts';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { lockCampaign } from '../../src/ledger/locks.ts';
import type { Queries, Tx } from '../../src/ledger/tx.ts';

test('what must run in a transaction refuses the database, and what reads takes either', () => {
  expectTypeOf<Store['db']>().not.toExtend<Tx>();
  expectTypeOf<Queries>().not.toExtend<Tx>();
  expectTypeOf<Store['db']>().toExtend<Queries>();
  expectTypeOf<Tx>().toExtend<Queries>();
  expectTypeOf<Queries>().not.toHaveProperty('updateTable');

  // Never run: the type checker alone reads it.
  const misuse = async ({ db }: Store, tx: Tx) => {
    // @ts-expect-error The database is no transaction.
    await lockCampaign(db, 'spring');
    // @ts-expect-error The database is no transaction.
    await compareAndSetBatch(db, 'spring/1/1', { from: ['intent'], to: 'posting' });
    // @ts-expect-error The database is no transaction.
    await appendEvents(db, []);
    await appendEvents(tx, []);
    return [await readEvents(db, 'spring'), await readEvents(tx, 'spring')];
  };
  expectTypeOf(misuse).toBeFunction();
});
