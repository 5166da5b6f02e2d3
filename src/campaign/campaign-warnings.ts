import type { CampaignRules } from '../domain/campaign-rules.ts';

/** What a person should know before they start a campaign with these rules, although nothing is wrong with them. */
export function campaignWarnings(rules: CampaignRules): string[] {
  if (rules.retry.delays.unknown === 'never') return [];
  return [
    'on_unknown: redial: people of whom nobody knows whether they were called are dialled again, and may be called twice',
  ];
}
