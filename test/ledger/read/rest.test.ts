import { expect } from 'vitest';
import { readTalkMs } from '../../../src/ledger/read/call-groups.ts';
import { readWaitingGroups } from '../../../src/ledger/read/waiting.ts';
import { requireCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { beginProven, noon } from '../scenario.ts';
import { test, openLedger, unjudged } from '../ledger-test.ts';

const hourMs = 3_600_000;

test.both.from(openLedger)('rows that wait are grouped with the attempts they had and when the last of them is due', async (store) => {
  unjudged();
  await beginProven(store);
  const campaign = await requireCampaign(store.db, 'spring');
  const all = (await readWaitingGroups(store.db, campaign, noon)).reduce((sum, { count }) => sum + count, 0);
  expect(all).toBe(6);
  await store.db
    .updateTable('recipients')
    .set({ counted: 1, due_at: noon + hourMs })
    .where('row_number', '=', 1)
    .execute();
  await store.db
    .updateTable('recipients')
    .set({ counted: 1, due_at: noon + 2 * hourMs })
    .where('row_number', '=', 2)
    .execute();
  await store.db
    .updateTable('recipients')
    .set({ counted: 1, due_at: noon + 3 * hourMs, expires_at: noon + 9 * hourMs })
    .where('row_number', '=', 3)
    .execute();
  const groups = await readWaitingGroups(store.db, campaign, noon);
  const retries = groups.filter(({ attempts }) => attempts === 1).map(({ count, notBefore, expiresAt }) => [count, notBefore, expiresAt]);
  expect(retries.toSorted(([, a], [, b]) => (a ?? 0) - (b ?? 0))).toEqual([
    [1, noon + hourMs, null],
    [1, noon + 2 * hourMs, null],
    [1, noon + 3 * hourMs, noon + 9 * hourMs],
  ]);
  expect(await readTalkMs(store.db, 'spring')).toBeNull();
});
