import type { Campaign } from './campaigns.ts';
import { callbackRulesOf, nextDayOf } from './callback-times.ts';
import { endPromise, findPassed, leaveCallbackLine, movePromise } from './promises.ts';
import { finishRecipients } from './recipients.ts';
import type { Tx } from '../tx.ts';

/** Passed callbacks are never called late: by the campaign's rules they move to the next day or are logged as missed. */
export async function settlePassedPromises(tx: Tx, campaign: Campaign, now: number): Promise<void> {
  const at = { campaignId: campaign.campaignId, now };
  const { missed } = callbackRulesOf(campaign.rules);
  for (const { promise, row } of await findPassed(tx, campaign.campaignId, now)) {
    const { promise_id: promiseId, state } = promise;
    const { recipient_id: recipientId } = row;
    const isOpen = state === 'open';
    const next = isOpen && missed === 'next_day' ? nextDayOf(campaign, { promise, row, now }) : null;
    if (next !== null) {
      await movePromise(tx, { campaign, row, now }, { promiseId, dueAt: next.at, local: next.local });
      continue;
    }
    if (isOpen) await endPromise(tx, at, promise, { state: 'missed', reason: promise.reason ?? 'late' });
    await leaveCallbackLine(tx, row);
    const isAsked = !isOpen || missed !== 'retry';
    const reason = isOpen ? 'callback_missed' : 'callback_called_off';
    if (isAsked && (await wasTalkedTo(tx, recipientId))) await finishRecipients(tx, at, [{ recipientId, outcome: 'completed', reason }]);
  }
}

async function wasTalkedTo(tx: Tx, recipientId: string): Promise<boolean> {
  const talk = tx.selectFrom('attempts').select('attempt_id').where('recipient_id', '=', recipientId).where('disposition', '=', 'answered');
  return (await talk.limit(1).executeTakeFirst()) !== undefined;
}
