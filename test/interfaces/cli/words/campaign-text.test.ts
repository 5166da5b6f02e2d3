import { expect, test } from 'vitest';
import { stateText, statusAsJson } from '../../../../src/presentation/words/campaign.ts';
import type { CampaignStatus } from '../../../../src/ledger/campaign/campaign-status.ts';
import type { Campaign } from '../../../../src/ledger/rows/campaigns.ts';
import { buildRules } from '../../../support/campaign-rules.ts';

const startsAt = Date.parse('2030-03-01T09:00:00Z');

test('a campaign that waits for its start time says when that is', () => {
  const campaign = { state: 'scheduled', rules: buildRules({ startsAt }) } as Campaign;
  expect(stateText(campaign)).toBe('scheduled, begins 2030-03-01 09:00 UTC');
});

test('rows that may be called at once are due since the import, not since 1970', () => {
  const campaign = { createdAt: startsAt } as Campaign;
  const dueAt = (nextDueAt: number | null) => statusAsJson(campaign, { nextDueAt } as CampaignStatus)['nextDueAt'];
  expect(dueAt(0)).toBe(startsAt);
  expect(dueAt(startsAt + 60_000)).toBe(startsAt + 60_000);
  expect(dueAt(null)).toBeNull();
});
