import { expect, test } from 'vitest';
import type { AttemptResult } from '../../../src/rules/disposition.ts';
import { pauseCampaign, resumeCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRows, buildRules, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

const failed: AttemptResult = { disposition: 'failed', detail: null, counted: true };
const coolDownMs = 5 * minuteMs;
const ended = noon + minuteMs;

/** A campaign whose first four calls have failed, and which has paused itself for it. */
async function breakOff(dialect: (typeof dialects)[number]): Promise<Scenario> {
  const delays = { ...buildRules().retry.delays, failed: 'never' as const };
  const scenario = await beginProven(await openCleanStore(dialect), {
    rows: buildRows(numbers(20), (index) => `Guest ${index}`),
    rules: {
      breaker: { failureShare: 0.5, windowMs: 30 * minuteMs, minCalls: 4, coolDownMs },
      retry: { delays },
      pacing: { batchSize: 4, refillThreshold: 1 },
    },
  });
  const attempts = await scenario.dial(1);
  const settlements = attempts.map((attemptId) => ({ attemptId, result: failed }));
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now: ended }, settlements));
  expect(await scenario.plan(2, ended)).toMatchObject({ reason: 'paused', until: ended + coolDownMs });
  return scenario;
}

test.for(dialects)('after a cool-down shorter than the window the old failures open nothing: %s', async (dialect) => {
  const scenario = await breakOff(dialect);
  expect(await scenario.plan(2, ended + coolDownMs)).toMatchObject({ kind: 'batch', size: 4 });
  expect(await scenario.campaign()).toMatchObject({ state: 'running', dialsSince: ended + coolDownMs });
});

test.for(dialects)('a person who pauses it ends the cool-down: only a person resumes: %s', async (dialect) => {
  const scenario = await breakOff(dialect);
  expect(await pauseCampaign(scenario.store, { campaignId: 'spring', now: ended + minuteMs }, { reason: 'paused by a person' })).toBe(true);
  expect(await scenario.campaign()).toMatchObject({ stateReason: 'paused by a person', resumeAt: null });
  expect(await scenario.plan(2, ended + coolDownMs)).toMatchObject({ reason: 'paused', until: null });
  // Repeating a pause without a cool-down keeps the reason that it has.
  expect(await pauseCampaign(scenario.store, { campaignId: 'spring', now: ended + minuteMs }, { reason: 'once more' })).toBe(true);
  expect((await scenario.campaign()).stateReason).toBe('paused by a person');
  expect(await resumeCampaign(scenario.store, { campaignId: 'spring', now: ended + coolDownMs })).toBe(true);
  expect(await scenario.plan(2, ended + coolDownMs)).toMatchObject({ kind: 'batch', size: 4 });
});
