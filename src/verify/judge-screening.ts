import type { JudgedLine } from './campaign-book.ts';
import { minuteMs } from './local-time.ts';

/** Of each batch: when the pre-dial hook was last asked about it, and whom it allowed. */
export type ScreeningBook = Map<string, { at: number; eligible: ReadonlySet<unknown> }>;

/** An answer of the hook is good for this long. */
const freshMs = 15 * minuteMs;

/** Notes what the hook said of a batch. */
export function noteScreening({ campaign, event, data }: JudgedLine): void {
  const { batchId = '', at } = event;
  const { eligible } = data;
  campaign.screened.set(batchId, { at, eligible: new Set(Array.isArray(eligible) ? eligible : []) });
}

/** Whether the hook allowed a call that was placed, and not too long before. */
export function judgeScreened({ campaign, event, data, violate }: JudgedLine): void {
  if (!campaign.rules.screened) return;
  const { batchId = '', attemptId, at } = event;
  const screened = campaign.screened.get(batchId);
  if (screened === undefined || !screened.eligible.has(attemptId) || data['screened'] !== 'eligible')
    violate('unscreened_dialled', `call ${attemptId} was placed without a yes of the pre-dial hook`);
  else if (at - screened.at > freshMs)
    violate(
      'unscreened_dialled',
      `call ${attemptId} was placed ${at - screened.at} ms after the pre-dial hook allowed it`,
    );
}
