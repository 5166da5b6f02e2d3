import { expect, test } from 'vitest';
import { recordRequests } from '../masters/requests.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';
import type { Mix } from '../world/mix.ts';

test('a campaign with a refusal of rate, a lost reply and a partial batch asks the service byte for byte what was recorded', async () => {
  const numbers = Array.from({ length: 12 }, (_, index) => `+121255501${String(index + 10)}`);
  const rules = buildRules({
    pacing: { batchSize: 3, maxConcurrentCalls: 6, refillThreshold: 1 },
    retry: { maxAttempts: 2 },
    timing: { pollMs: 60_000, settleMs: 5 * 60_000 },
  });
  const mix: Mix = {
    seed: 'recorded requests',
    sandbox: { dialect: 'extended' },
    campaigns: [{ campaignId: 'first', rules, rows: buildRows(numbers, (index) => `Guest ${String(index)}`) }],
    faults: [
      { id: 'limited', operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 60 } },
      { id: 'lost', operation: 'batch_calls', nth: 4, effect: { type: 'reset', when: 'after' } },
      { id: 'partial', operation: 'batch_calls', nth: 5, effect: { type: 'partial', accept: 2 } },
      { id: 'list', operation: 'list_conversations', nth: 6, effect: { type: 'error', status: 500, when: 'before' } },
    ],
  };
  const { outcome, asked } = await recordRequests(mix);
  const { proven, faults, ledger } = outcome;
  expect([...proven, ...faults]).toEqual([]);
  expect(new Set(ledger.posts.map(({ verdict }) => verdict))).toEqual(new Set(['confirmed', 'not_sent', 'refused', 'unknown']));
  await expect(`${asked}\n`).toMatchFileSnapshot('recorded-requests.txt');
});
