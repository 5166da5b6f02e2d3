import { expect, test } from 'vitest';
import { campaignWarnings } from '../../src/campaign/campaign-warnings.ts';
import { buildRules } from '../support/campaign-rules.ts';

const day = { hours: { mon: [{ from: 540, to: 1020 }] }, closedOn: [] };
const delays = buildRules().retry.delays;

test('what is allowed and yet dangerous is told', () => {
  expect(campaignWarnings(buildRules({ calendar: day }))).toEqual([]);
  expect(campaignWarnings(buildRules())).toEqual([expect.stringMatching(/hours: any and law: off/)]);
  const redial = buildRules({ calendar: day, retry: { delays: { ...delays, unknown: [60_000] } } });
  expect(campaignWarnings(redial)).toEqual([expect.stringMatching(/may be called twice/)]);
});
