import type { CampaignRules } from '../domain/campaign-rules.ts';

/** What a person should know before they start a campaign with these rules, although nothing is wrong with them. */
export function campaignWarnings(rules: CampaignRules): string[] {
  const warnings: string[] = [];
  if (rules.retry.delays.unknown !== 'never') {
    warnings.push(
      'on_unknown: redial: people of whom nobody knows whether they were called are dialled again, and may be called twice',
    );
  }
  if (rules.calendar.hours === null && rules.law.length === 0) {
    warnings.push('hours: any and law: off: people are called at any hour of their day and night');
  }
  return warnings;
}
