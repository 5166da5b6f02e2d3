import { expect, test } from 'vitest';
import { campaignWarnings } from '../../src/campaign/campaign-warnings.ts';
import { buildRules } from '../support/campaign-rules.ts';

const delays = buildRules().retry.delays;

test('what is allowed and yet dangerous is told', () => {
  expect(campaignWarnings(buildRules())).toEqual([]);
  const redial = buildRules({ retry: { delays: { ...delays, unknown: [60_000] } } });
  expect(campaignWarnings(redial)).toEqual([expect.stringMatching(/may be called twice/)]);
});
