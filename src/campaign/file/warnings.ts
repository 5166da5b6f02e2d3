import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { LegalRules } from './legal-rules.ts';

/** What a person should know before they start a campaign with these rules, although nothing is wrong with them. */
export function campaignWarnings({ retry, optOut, dispositions }: CampaignRules): string[] {
  const redials = retry.delays.unknown !== 'never';
  const hearsOptOuts = optOut.length > 0 || dispositions.some(({ disposition }) => disposition === 'opted_out');
  return [
    ...(redials
      ? ['on_unknown: redial: people of whom nobody knows whether they were called are dialled again, and may be called twice']
      : []),
    ...(hearsOptOuts
      ? []
      : [
          'a request not to be called again would not be heard: add opt_out, or a rule of dispositions with is: opted_out, that says where the record of a call tells of it',
        ]),
  ];
}

/** Law changes, and who keeps to old rules may break new ones: rules older than this are told. */
const staleAfterMonths = 6;

/** Whether rules of that date (`2026-01-31`) are so old that they should be looked at again. */
export function isStale(asOf: string, nowMs: number): boolean {
  const until = new Date(`${asOf}T00:00:00Z`);
  until.setUTCMonth(until.getUTCMonth() + staleAfterMonths);
  return nowMs >= until.getTime();
}

/** What to know of the dates of rules by law before a start; `law`: null when they are off. */
export function lawWarnings(law: LegalRules | null, nowMs: number): string[] {
  if (law === null) return [];
  const { packagedAsOf, own } = law;
  const old = `more than ${String(staleAfterMonths)} months ago`;
  const warnings: string[] = [];
  if (packagedAsOf !== null && isStale(packagedAsOf, nowMs))
    warnings.push(
      `the rules by law that come with Carillon are as of ${packagedAsOf}, ${old}: update Carillon, or look them up and name a file of your own under law`,
    );
  if (own !== null && isStale(own.asOf, nowMs))
    warnings.push(`the rules of ${own.path} are as of ${own.asOf}, ${old}: look them up again, and write the date of that under as_of`);
  if (own !== null && Date.parse(own.asOf) > nowMs)
    warnings.push(`the rules of ${own.path} are as of ${own.asOf}, which is yet to come: correct as_of`);
  return warnings;
}
