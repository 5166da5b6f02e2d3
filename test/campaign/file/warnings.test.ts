import { expect, test } from 'vitest';
import { campaignWarnings } from '../../../src/campaign/file/warnings.ts';
import { buildRules } from '../../support/campaign-rules.ts';

const delays = buildRules().retry.delays;
const optOut = [{ source: 'collected' as const, key: 'opt_out', values: ['true'] }];

test('what is allowed and yet dangerous is told', () => {
  expect(campaignWarnings(buildRules({ optOut }))).toEqual([]);
  const redial = buildRules({ optOut, retry: { delays: { ...delays, unknown: [60_000] } } });
  expect(campaignWarnings(redial)).toEqual([expect.stringMatching(/may be called twice/)]);
});

test('a campaign that would hear nobody who asks not to be called again is told so', () => {
  const deaf = [expect.stringMatching(/^a request not to be called again would not be heard: add opt_out/)];
  const rule = { pointer: '/metadata/end', equals: ['asked'] };
  expect(campaignWarnings(buildRules({ optOut: [] }))).toEqual(deaf);
  expect(campaignWarnings(buildRules({ optOut: [], dispositions: [{ ...rule, disposition: 'busy' }] }))).toEqual(deaf);
  expect(campaignWarnings(buildRules({ optOut: [], dispositions: [{ ...rule, disposition: 'opted_out' }] }))).toEqual([]);
});
