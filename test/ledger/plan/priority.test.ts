import { expect } from 'vitest';
import { pauseCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRows, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { beginProven, noon, numbers, waits } from '../scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger } from '../ledger-test.ts';

const begin = (store: Store, campaignId: string, priority: number, changes: RulesChanges = {}) => {
  const pacing = { priority, batchSize: 2, refillThreshold: 1, maxConcurrentCalls: 2, ...changes.pacing };
  const rows = buildRows(numbers(4), (index) => `Guest ${index} of ${campaignId}`);
  return beginProven(store, { campaignId, rows, rules: { ...changes, pacing } });
};
const states = async (scenario: Awaited<ReturnType<typeof begin>>) => (await scenario.recipients()).map(({ state }) => state).join(' ');

test.both.from(openLedger)('of two campaigns that want the same people the one of higher priority calls them first', async (store) => {
  const survey = await begin(store, 'survey', 10);
  const recall = await begin(store, 'recall', 50);
  expect(await survey.plan(1)).toMatchObject(waits('due', noon + 5 * minuteMs));
  const first = await recall.dial(1);
  expect(first).toHaveLength(2);
  await recall.settle(first, 'answered', noon + minuteMs);
  // The other two still wait there; whom it has called may be called here.
  expect(await survey.plan(1, noon + 5 * minuteMs)).toMatchObject({ kind: 'batch', size: 2 });
  expect(await states(survey)).toBe('open open waiting waiting');
});

test('nobody waits for a campaign of equal priority, a paused one, or one that has planned nothing for an hour', async (dialect) => {
  const store = await openLedger(dialect);
  const survey = await begin(store, 'survey', 10);
  await begin(store, 'equal', 10);
  await begin(store, 'paused', 50);
  await pauseCampaign(store, { campaignId: 'paused', now: noon }, { reason: 'by hand' });
  await begin(store, 'stuck', 50);
  await begin(store, 'later', 50, { startsAt: noon + 2 * hourMs });
  expect(await survey.plan(1, noon + hourMs)).toMatchObject(waits('due'));
  expect(await survey.plan(1, noon + hourMs + 5 * minuteMs)).toMatchObject({ kind: 'batch', size: 2 });
});
