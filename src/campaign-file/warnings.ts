import type { CampaignRules } from '../domain/campaign-rules.ts';

/** What a person should know before they start a campaign with these rules, although nothing is wrong with them. */
export function campaignWarnings({ retry, optOut, dispositions }: CampaignRules): string[] {
  const redials = retry.delays.unknown !== 'never';
  const hearsOptOuts = optOut.length > 0 || dispositions.some(({ disposition }) => disposition === 'opted_out');
  return [
    ...(redials
      ? [
          'on_unknown: redial: people of whom nobody knows whether they were called are dialled again, and may be called twice',
        ]
      : []),
    ...(hearsOptOuts
      ? []
      : [
          'a request not to be called again would not be heard: add opt_out, or a rule of dispositions with is: opted_out, that says where the record of a call tells of it',
        ]),
  ];
}
