import { hasEnded } from '../../domain/lifecycle.ts';
import type { Campaign } from '../rows/campaigns.ts';

/** Thrown when the rows of a campaign cannot be changed, or not by this upload; the message says why and what to do. */
export class EditRefusedError extends Error {
  override readonly name = 'EditRefusedError' as const;
  readonly isBadInput = true;
}

/** What lets a campaign that has failed go on, for the end of a sentence. */
export function howToMend(campaignId: string): string {
  return `mend what carillon status ${campaignId} names; then carillon start with its file lets it go on`;
}

/** Throws EditRefusedError unless rows may still be added, changed and withdrawn. */
export function refuseUnlessEditable(campaign: Campaign | undefined, now: number): asserts campaign is Campaign {
  if (campaign === undefined) throw new EditRefusedError('The campaign is not in this database.');
  const { campaignId: id, state, rules } = campaign;
  const instead =
    `carillon retry ${id} --outcome … calls again who was not reached; ` +
    'for new or corrected rows start a campaign of their own, under a new id.';
  if (state === 'failed')
    throw new EditRefusedError(`Campaign ${id} has failed, so its rows cannot be changed now: ${howToMend(id)}.`);
  if (hasEnded(campaign))
    throw new EditRefusedError(`Campaign ${id} has ended (${state}), so its rows cannot be changed. ${instead}`);
  if (state === 'draining')
    throw new EditRefusedError(
      `Campaign ${id} is draining: nobody new is called, so its rows cannot be changed. ${instead}`,
    );
  if (rules.endsAt !== null && rules.endsAt <= now) {
    const at = new Date(rules.endsAt).toISOString();
    throw new EditRefusedError(
      `Campaign ${id} ended at ${at} (ends_at), so its rows cannot be changed. Start a campaign with them under a new id.`,
    );
  }
}
