import type { LoggedEvent } from './logged-event.ts';
import { callsOf, forgetDelays, renewBudget, rowNumber, type CampaignBook } from './campaign-book.ts';
import { textOf } from './judged-rules.ts';
import type { Found } from './log-rules.ts';

/** Outcomes that a correction may take back: such a recipient was never called, or under a number that does not exist. */
const correctable: readonly string[] = ['rejected', 'undialable', 'cancelled'];
/** Outcomes after which a person may have somebody called again. */
const retriable: readonly string[] = ['exhausted', 'unresolved', 'expired', 'cancelled', 'undialable'];

/** Follows a change that a person made to the rows of a campaign, and answers what is wrong with it. */
export function judgeEdit(campaign: CampaignBook, event: LoggedEvent): Found {
  const recipientId = event.recipientId ?? '';
  const { edits } = campaign;
  if (event.type === 'campaign.edited') return judgeCounts(campaign, event);
  if (event.type === 'recipient.withdrawn') {
    edits.withdrawn += 1;
    campaign.withdrawn.add(recipientId);
    return judgeOpen(campaign, event);
  }
  if (event.type === 'recipient.added') campaign.rows += 1;
  const row = rowNumber(campaign, recipientId);
  if (row !== null) campaign.rowBook.change(row, String(event.data?.['hash']));
  if (event.type === 'recipient.added') {
    edits.added += 1;
    return [];
  }
  edits.corrected += 1;
  // The zones that a day's delay was reckoned with may be others now.
  for (const attempt of callsOf(campaign, recipientId)) attempt.zones = null;
  return [...judgeOpen(campaign, event), ...correct(campaign, event, recipientId)];
}

/** A person gave the row a budget anew, which only somebody who was not reached may get. */
export function judgeRetry(campaign: CampaignBook, { recipientId = '' }: LoggedEvent): Found {
  const outcome = campaign.outcomes.get(recipientId);
  campaign.outcomes.delete(recipientId);
  campaign.requeued.add(recipientId);
  renewBudget(campaign, recipientId);
  if (outcome !== undefined && retriable.includes(outcome)) return [];
  return [['reached_dialled', `${recipientId} was put back in line although the outcome was ${outcome}`]];
}

/** Nobody is called whom a person took out of the campaign. */
export function judgeWithdrawn(campaign: CampaignBook, event: LoggedEvent): Found {
  if (!campaign.withdrawn.has(event.recipientId ?? '')) return [];
  return [['withdrawn_dialled', `call ${event.attemptId} was placed although ${event.recipientId} was withdrawn`]];
}

function judgeOpen(campaign: CampaignBook, { recipientId, type }: LoggedEvent): Found {
  const last = callsOf(campaign, recipientId ?? '').at(-1);
  if (last === undefined || last.state !== null) return [];
  const what = type === 'recipient.withdrawn' ? 'withdrawn' : 'changed';
  return [['open_changed', `${recipientId} was ${what} while a call to them was planned or open`]];
}

function correct(campaign: CampaignBook, event: LoggedEvent, recipientId: string): Found {
  const told = textOf(event.data?.['outcome']);
  const known = campaign.outcomes.get(recipientId) ?? null;
  const found: Found = [];
  if (told === 'rejected' ? known !== null : told !== known)
    found.push(['log_incomplete', `${recipientId} was corrected as ${told}, and the log has it as ${known}`]);
  if (known !== null && !correctable.includes(known))
    found.push(['reached_dialled', `${recipientId} was put back in line although the outcome was ${known}`]);
  if (told === 'rejected') campaign.rejected -= 1;
  if (told === 'rejected' && campaign.rejected < 0)
    found.push([
      'log_incomplete',
      `${recipientId} was corrected as rejected, and all rejected rows were corrected before`,
    ]);
  // Another number is called with a budget of its own.
  if (told === 'undialable' && event.data?.['numberChanged'] === true) renewBudget(campaign, recipientId);
  // One whose number was refused has no delay to wait for.
  else if (told === 'undialable') forgetDelays(campaign, recipientId);
  campaign.outcomes.delete(recipientId);
  campaign.withdrawn.delete(recipientId);
  return found;
}

function judgeCounts({ edits }: CampaignBook, { data = {} }: LoggedEvent): Found {
  const found = (['added', 'corrected', 'withdrawn'] as const).flatMap((kind): Found => {
    const told = Number(data[kind]);
    return told === edits[kind]
      ? []
      : [['log_incomplete', `${told} rows were to have been ${kind}, and the log has ${edits[kind]}`]];
  });
  Object.assign(edits, { added: 0, corrected: 0, withdrawn: 0 });
  return found;
}
