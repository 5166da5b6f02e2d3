import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { CampaignFile } from '../campaign-file/file.ts';
import { CampaignFileError } from '../input/errors.ts';
import { isForWantOfTime, type Funnel } from './funnel.ts';

/** Whether time can run out for this campaign or for single rows of it. */
export function hasAnEnd({ endsAt, list }: CampaignRules): boolean {
  return endsAt !== null || list.expiresAtColumn !== null;
}

/**
 * The first instant at which somebody could be called if the campaign ended later, where nobody can be and its end alone is to blame; null
 * otherwise.
 */
export function opensTooLate({ endsAt }: CampaignRules, funnel: Funnel): number | null {
  const { dialable, exclusions, opensAfterEnd } = funnel;
  if (endsAt === null || dialable > 0 || !exclusions.every(({ reason }) => isForWantOfTime(reason))) return null;
  return opensAfterEnd;
}

/**
 * Refuses a campaign that ends before anybody of its list can be called.
 * @throws CampaignFileError with the end, and the first instant at which a row could be called.
 */
export function refuseTooEarlyEnd(file: CampaignFile, rules: CampaignRules, funnel: Funnel): void {
  const opensAt = opensTooLate(rules, funnel);
  if (opensAt === null) return;
  const margin = `${String(rules.timing.dispatchMarginMs / 60_000)}m`;
  const message =
    `${isoText(rules.endsAt ?? 0)} is too early: nobody of the list can be called before it. The first hours open ${isoText(opensAt)}, ` +
    `and a call must begin longer than advanced.dispatch_margin (${margin}) before the end; write a later time`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['ends_at']), path: 'ends_at', message }]);
}

function isoText(at: number): string {
  return new Date(at).toISOString();
}
