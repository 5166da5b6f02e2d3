import type { Campaign } from './campaigns.ts';
import { callbackRulesOf, nextDayOf } from './callback-times.ts';
import { endCallback, findPassed, leaveCallbackLine, moveCallback } from './promises.ts';
import { finishRecipients } from './recipients.ts';
import type { Tx } from '../tx.ts';

/** Passed callbacks are never called late: by the campaign's rules they move to the next day or are logged as missed. */
export async function settlePassedCallbacks(tx: Tx, campaign: Campaign, now: number): Promise<void> {
  const at = { campaignId: campaign.campaignId, now };
  const { missed } = callbackRulesOf(campaign.rules);
  for (const { promise: callback, row } of await findPassed(tx, campaign.campaignId, now)) {
    const { promise_id: callbackId, state } = callback;
    const { recipient_id: recipientId } = row;
    const isOpen = state === 'open';
    const next = isOpen && missed === 'next_day' ? nextDayOf(campaign, { promise: callback, row, now }) : null;
    if (next !== null) {
      await moveCallback(tx, { campaign, row, now }, { promiseId: callbackId, dueAt: next.at, local: next.local });
      continue;
    }
    if (isOpen) await endCallback(tx, at, callback, { state: 'missed', reason: callback.reason ?? 'late' });
    await leaveCallbackLine(tx, row);
    const isFinal = !isOpen || missed !== 'retry';
    const reason = isOpen ? 'callback_missed' : 'callback_called_off';
    if (isFinal && (await wasTalkedTo(tx, recipientId))) await finishRecipients(tx, at, [{ recipientId, outcome: 'completed', reason }]);
  }
}

async function wasTalkedTo(tx: Tx, recipientId: string): Promise<boolean> {
  const talk = tx.selectFrom('attempts').select('attempt_id').where('recipient_id', '=', recipientId).where('disposition', '=', 'answered');
  return (await talk.limit(1).executeTakeFirst()) !== undefined;
}
