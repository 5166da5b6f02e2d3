import { expect, test } from 'vitest';
import { readStatus } from '../../../src/ledger/campaign/campaign-status.ts';
import { countDoubt } from '../../../src/ledger/read/doubt-counts.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

async function countAt(spring: Scenario, now: number) {
  const campaign = await spring.campaign();
  return countDoubt(spring.store.db, campaign, { status: await readStatus(spring.store.db, campaign), now });
}

test.for(bothDialects)('rows that wait for an open call with the same words are counted: %s', async (dialect) => {
  const rows = buildRows(numbers(5), (index) => (index < 4 ? 'Guest' : 'Ana'));
  const spring = await beginProven(await openCleanStore(dialect), { rows });
  expect(await spring.dial(1)).toEqual(['spring/1/1', 'spring/5/1']);
  expect(await countAt(spring, noon)).toMatchObject({ waitingForWords: 3, waitingForEvidence: 0, unresolved: {} });
  const records = ['conv_1', 'conv_5'].map((id, index) => answered(id, numbers(5)[index * 4] ?? '', noon + 5_000));
  await spring.sweep(noon + minuteMs, records);
  expect(await countAt(spring, noon + minuteMs)).toMatchObject({ waitingForWords: 0 });
});

test.for(bothDialects)(
  'rows that ended in doubt are counted by cause, and name what may be theirs: %s',
  async (dialect) => {
    const rows = buildRows(numbers(2), () => 'Guest');
    const spring = await beginProven(await openCleanStore(dialect), { rows, rules: { sharedWords: 'unresolved' } });
    await spring.dial(1);
    const talk = {
      ...answered('conv', '', noon + 5_000),
      calleeNumber: null,
      callResult: null,
      openingLine: 'Hello Guest',
    };
    for (let now = noon + minuteMs; now <= noon + 30 * minuteMs; now += 2 * minuteMs)
      await spring.sweep(now, now === noon + minuteMs ? [talk] : []);
    expect(await countAt(spring, noon + 31 * minuteMs)).toMatchObject({
      waitingForWords: 0,
      unresolved: { records_not_told_apart: 2 },
    });
    const candidatesOf = async () => {
      const all: string[][] = [];
      for await (const { candidates } of readResults(spring.store.db, 'spring')) all.push(candidates);
      return all;
    };
    expect(await candidatesOf()).toEqual([['conv'], ['conv']]);
    // Once it is known whose it is, it is nobody else's candidate.
    await spring.store.db.updateTable('conversations').set({ attempt_id: 'spring/1/1' }).execute();
    expect(await candidatesOf()).toEqual([[], []]);
  },
);
