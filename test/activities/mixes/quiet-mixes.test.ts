import { expect, test } from 'vitest';
import { buildRows, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { Drive } from '../../world/drive.ts';
import { control } from '../../world/inputs/around.ts';
import type { Mix } from '../../world/mix.ts';

test("a stranger's call after a 429 keeps nobody's row open for ever after a long outage", async () => {
  const busy = '+12125550101';
  const retry = { ...buildRules().retry, maxAttempts: 1 };
  const mix: Mix = {
    seed: 'stranger',
    // An inbound call looks like ours, and an unanswered one leaves no record.
    sandbox: { dialect: 'spec', unansweredCreateRecord: false },
    campaigns: [{ campaignId: 'first', rules: buildRules({ retry }), rows: buildRows([busy], () => 'Guest') }],
    faults: [
      {
        id: '429-14-1',
        operation: 'batch_calls',
        nth: 1,
        effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 600 },
      },
    ],
    events: [{ tick: 2, happen: control('inbound', { phone_number_id: 'pn_main', from: '+13125550142' }) }],
    readOutage: { afterMs: 10 * minuteMs, forMs: 3 * hourMs },
  };
  const { breaches, faults, ledger } = await new Drive(mix).run();
  expect([...breaches, ...faults]).toEqual([]);
  // While the list cannot be read the batch is not sent again; then it is given back.
  expect(ledger.batches).toMatchObject([
    { posts: 1, state: 'released', reason: 'not_sent_in_time' },
    { posts: 1, state: 'confirmed' },
  ]);
  expect(ledger.attempts).toMatchObject([{ state: 'released' }, { disposition: 'unknown', detail: 'no_record_shown' }]);
});

const busy = '+12125550101';

test('what the campaign file says of a field goes before what is read by itself', async () => {
  const rules = buildRules({
    retry: { maxAttempts: 1 },
    dispositions: [
      { pointer: '/metadata/phone_call/nothing', equals: ['busy'], disposition: 'answered' },
      { pointer: '/metadata/phone_call/call_result', equals: ['BUSY', 486], disposition: 'opted_out' },
    ],
  });
  const mix: Mix = {
    seed: 'record rules',
    sandbox: { dialect: 'extended' },
    campaigns: [{ campaignId: 'first', rules, rows: buildRows([busy], () => 'Guest') }],
  };
  const { proven, faults, ledger } = await new Drive(mix).run();
  expect([...proven, ...faults]).toEqual([]);
  expect(ledger.attempts).toMatchObject([{ disposition: 'opted_out' }]);
});
