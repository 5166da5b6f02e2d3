import type { CampaignEvent } from '../store/events.ts';
import { retriableOutcomes } from '../store/retry-ended.ts';
import { callsOf, type CampaignBook } from './campaign-book.ts';
import type { LogRule } from './log-rules.ts';

/** Outcomes that a correction may take back: such a recipient was never called, or under a number that does not exist. */
const correctable: readonly string[] = ['rejected', 'undialable', 'cancelled'];

/** Follows a change that a person made to the rows of a campaign, and answers what is wrong with it. */
export function judgeEdit(campaign: CampaignBook, event: CampaignEvent): [LogRule, string][] {
  const recipientId = event.recipientId ?? '';
  const { edits } = campaign;
  if (event.type === 'campaign.edited') return judgeCounts(campaign, event);
  if (event.type === 'recipient.added') {
    edits.added += 1;
    campaign.rows += 1;
    return [];
  }
  if (event.type === 'recipient.withdrawn') {
    edits.withdrawn += 1;
    campaign.withdrawn.add(recipientId);
    return judgeOpen(campaign, event);
  }
  edits.corrected += 1;
  return [...judgeOpen(campaign, event), ...correct(campaign, event, recipientId)];
}

/** A person gave the row a budget anew, which only somebody who was not reached may get. */
export function judgeRetry(campaign: CampaignBook, { recipientId = '' }: CampaignEvent): [LogRule, string][] {
  const outcome = campaign.outcomes.get(recipientId);
  campaign.outcomes.delete(recipientId);
  campaign.requeued.add(recipientId);
  campaign.counted.delete(recipientId);
  campaign.budgets.set(recipientId, (campaign.budgets.get(recipientId) ?? 0) + 1);
  if (outcome !== undefined && (retriableOutcomes as readonly string[]).includes(outcome)) return [];
  return [['reached_dialled', `${recipientId} was put back in line although the outcome was ${outcome}`]];
}

/** Nobody is called whom a person took out of the campaign. */
export function judgeWithdrawn(campaign: CampaignBook, event: CampaignEvent): [LogRule, string][] {
  if (!campaign.withdrawn.has(event.recipientId ?? '')) return [];
  return [['withdrawn_dialled', `call ${event.attemptId} was placed although ${event.recipientId} was withdrawn`]];
}

function judgeOpen(campaign: CampaignBook, { recipientId, type }: CampaignEvent): [LogRule, string][] {
  if (callsOf(campaign, recipientId ?? '').at(-1)?.ended !== false) return [];
  const what = type === 'recipient.withdrawn' ? 'withdrawn' : 'changed';
  return [['open_changed', `${recipientId} was ${what} while a call to them was planned or open`]];
}

function correct(campaign: CampaignBook, event: CampaignEvent, recipientId: string): [LogRule, string][] {
  const { outcome: word } = event.data ?? {};
  const told = typeof word === 'string' ? word : null;
  const known = campaign.outcomes.get(recipientId) ?? null;
  const found: [LogRule, string][] = [];
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
  // Another number is called with a budget of its own. Logs of earlier versions do not tell; there every such row had one.
  if (told === 'undialable' && event.data?.['numberChanged'] !== false) {
    campaign.counted.delete(recipientId);
    campaign.budgets.set(recipientId, (campaign.budgets.get(recipientId) ?? 0) + 1);
  }
  campaign.outcomes.delete(recipientId);
  campaign.withdrawn.delete(recipientId);
  return found;
}

function judgeCounts({ edits }: CampaignBook, { data = {} }: CampaignEvent): [LogRule, string][] {
  const found = (['added', 'corrected', 'withdrawn'] as const).flatMap((kind): [LogRule, string][] => {
    const told = Number(data[kind]);
    return told === edits[kind]
      ? []
      : [['log_incomplete', `${told} rows were to have been ${kind}, and the log has ${edits[kind]}`]];
  });
  Object.assign(edits, { added: 0, corrected: 0, withdrawn: 0 });
  return found;
}
