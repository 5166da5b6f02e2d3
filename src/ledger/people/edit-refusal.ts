import { hasClosed, hasEnded } from '../../rules/lifecycle.ts';
import { RefusedError, type Remedy } from '../ledger-error.ts';
import type { Campaign } from '../rows/campaigns.ts';

export class EditRefusedError extends RefusedError {
  override readonly name = 'EditRefusedError' as const;
}

export function refuseUnlessEditable(campaign: Campaign | undefined, now: number): asserts campaign is Campaign {
  if (campaign === undefined) throw new EditRefusedError('The campaign is not in this database.');
  const { campaignId: id, state } = campaign;
  const retry: Remedy = { kind: 'retry_rows', campaignId: id };
  if (state === 'failed')
    throw new EditRefusedError(`Campaign ${id} has failed, so its rows cannot be changed now.`, {
      kind: 'fix_failure',
      campaignId: id,
    });
  if (hasEnded(campaign)) throw new EditRefusedError(`Campaign ${id} has ended (${state}), so its rows cannot be changed.`, retry);
  if (state === 'draining')
    throw new EditRefusedError(`Campaign ${id} is draining: nobody new is called, so its rows cannot be changed.`, retry);
  refuseAfterEnd(campaign, now);
}

/** Like `refuseUnlessEditable`, as text; null: the rows can be changed. */
export function editRefusalOf(campaign: Campaign, now: number): string | null {
  try {
    refuseUnlessEditable(campaign, now);
    return null;
  } catch (error) {
    if (error instanceof EditRefusedError) return error.message;
    throw error;
  }
}

/** Like `refuseUnlessEditable`, but another round can call rejected rows of an ended campaign. */
export function refuseUnlessFixable(campaign: Campaign | undefined, now: number): asserts campaign is Campaign {
  if (campaign === undefined || !hasClosed(campaign)) return refuseUnlessEditable(campaign, now);
  refuseAfterEnd(campaign, now);
}

function refuseAfterEnd({ campaignId: id, rules }: Campaign, now: number): void {
  if (rules.endsAt !== null && rules.endsAt <= now) {
    const at = new Date(rules.endsAt).toISOString();
    throw new EditRefusedError(
      `Campaign ${id} ended at ${at} (ends_at), so its rows cannot be changed. Start a campaign with them under a new id.`,
    );
  }
}
