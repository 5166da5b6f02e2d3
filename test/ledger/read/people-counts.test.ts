import { expect, test } from 'vitest';
import { countCallsTo } from '../../../src/ledger/read/calls-to.ts';
import { countRetriable } from '../../../src/ledger/people/retry-ended.ts';
import { addSuppressions, countEntries } from '../../../src/ledger/rows/suppressions.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginProven, noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

test.for(bothDialects)(
  'what a do-not-call entry stops is counted by what is under way to its number: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
    await scenario.dial(1);
    await scenario.plan(2);
    expect(await countCallsTo(store.db, numbers(6))).toEqual({ waiting: 2, planned: 2, open: 2 });
    expect(await countCallsTo(store.db, numbers(1))).toEqual({ waiting: 0, planned: 0, open: 1 });
    expect(await countCallsTo(store.db, [])).toEqual({ waiting: 0, planned: 0, open: 0 });
  },
);

test.for(bothDialects)(
  'entries are counted by scope, those that are over apart, that of all campaigns first: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    await beginProven(store, { campaignId: 'aster' });
    const entries = numbers(3).map((e164, index) => ({
    e164, scope: 'account', source: 'person', reason: null, expiresAt: index === 0 ? noon + 1 : null,
  })); // prettier-ignore
    const [first] = entries;
    await addSuppressions(store, [...entries, ...(first === undefined ? [] : [{ ...first, scope: 'aster' }])], noon);
    expect(await countEntries(store.db, noon)).toEqual([
      { scope: 'account', holding: 3, over: 0 },
      { scope: 'aster', holding: 1, over: 0 },
    ]);
    expect(await countEntries(store.db, noon + 1)).toEqual([
      { scope: 'account', holding: 2, over: 1 },
      { scope: 'aster', holding: 0, over: 1 },
    ]);
  },
);

test.for(bothDialects)(
  'rows are counted as a retry would take them, without those that a person has to speak for: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    await beginProven(store);
    const ends = [
    ['exhausted', 'no_answer'], ['exhausted', null], ['cancelled', 'withdrawn'],
    ['unresolved', 'records_not_told_apart'], ['unresolved', 'held'], ['completed', 'answered'],
  ] as const; // prettier-ignore
    for (const [index, [outcome, reason]] of ends.entries())
      await store.db
        .updateTable('recipients')
        .set({ state: 'done', outcome, reason })
        .where('row_number', '=', index + 1)
        .execute();
    expect(await countRetriable(store.db, 'spring')).toEqual({ exhausted: 2, unresolved: 1 });
  },
);
