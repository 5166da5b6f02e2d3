import { expect, test } from 'vitest';
import { buildRows, buildRules } from '../../support/campaign-rules.ts';
import { Drive } from './drive-campaign.ts';
import { quietMix } from './quiet-mix.ts';

const busy = '+12125550101';

test('what the campaign file says of a field goes before what is read by itself', async () => {
  const rules = buildRules({
    retry: { maxAttempts: 1 },
    dispositions: [
      { pointer: '/metadata/phone_call/nothing', equals: ['busy'], disposition: 'answered' },
      { pointer: '/metadata/phone_call/call_result', equals: ['BUSY', 486], disposition: 'opted_out' },
    ],
  });
  const mix = quietMix({
    seed: 'record rules',
    sandbox: { dialect: 'extended' },
    campaigns: [{ campaignId: 'first', rules, rows: buildRows([busy], () => 'Guest') }],
  });
  const { proven, faults, trial } = await new Drive(mix).run();
  expect([...proven, ...faults]).toEqual([]);
  expect(trial.ledger.attempts).toMatchObject([{ disposition: 'opted_out' }]);
});
