import type { LoggedEvent } from './logged-event.ts';
import type { CampaignBook } from './campaign-book.ts';
import { minuteMs } from './local-time.ts';
import type { Found } from './log-rules.ts';

/** Of each batch: when the pre-dial hook was last asked about it, and whom it allowed. */
export type ScreeningBook = Map<string, { at: number; eligible: ReadonlySet<unknown> }>;

/** An answer of the hook is good for this long. */
const freshMs = 15 * minuteMs;

/** Notes what the hook said of a batch. */
export function noteScreening(campaign: CampaignBook, { batchId = '', at, data = {} }: LoggedEvent): void {
  const { eligible } = data;
  campaign.screened.set(batchId, { at, eligible: new Set(Array.isArray(eligible) ? eligible : []) });
}

/** Whether the hook allowed a call that was placed, and not too long before. */
export function judgeScreened(campaign: CampaignBook, event: LoggedEvent): Found {
  if (!campaign.rules.screened) return [];
  const { batchId = '', attemptId, at, data = {} } = event;
  const screened = campaign.screened.get(batchId);
  if (screened === undefined || !screened.eligible.has(attemptId) || data['screened'] !== 'eligible')
    return [['unscreened_dialled', `call ${attemptId} was placed without a yes of the pre-dial hook`]];
  if (at - screened.at > freshMs)
    return [
      ['unscreened_dialled', `call ${attemptId} was placed ${at - screened.at} ms after the pre-dial hook allowed it`],
    ];
  return [];
}
