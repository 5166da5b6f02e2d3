import type { Eligibility } from '../domain/attempts/eligibility.ts';
import type { Disposition } from '../domain/disposition.ts';
import { instantText } from '../input/instant.ts';
import { printable } from '../input/printable.ts';
import type { CampaignEvent } from '../ledger/events.ts';
import type { CalleeRow } from '../ledger/read/callee.ts';
import { tellEvent } from './events.ts';

const dispositionWords: Readonly<Record<Disposition, string>> = {
  answered: 'answered',
  voicemail: 'voicemail',
  busy: 'busy',
  no_answer: 'no answer',
  unreached: 'not reached',
  failed: 'the call failed',
  invalid_number: 'the number is invalid',
  opted_out: 'answered, and asked not to be called again',
  unknown: 'nobody knows whether it was placed',
};

/** What an event of one row's life says, in words. No number and nothing that was said is in it. */
export function tellStory(event: CampaignEvent): string {
  const call = event.attemptId === undefined ? 'call' : `call ${event.attemptId.split('/').at(-1) ?? ''}`;
  switch (event.type) {
    case 'attempt.planned':
      return `${call} planned`;
    case 'attempt.posted':
      return `${call} requested from the service${event.data.k === 1 ? '' : `, again (request ${event.data.k})`}`;
    case 'attempt.released':
      return `${call} not placed: ${reasonText(event.data.reason)}`;
    case 'attempt.matched': {
      const by = event.data.by === 'person' ? 'an operator said so' : `by ${reasonText(event.data.evidence)}`;
      return `${call} is conversation ${printable(event.data.conversation)} (${by})`;
    }
    case 'attempt.settled':
      return `${call} ended: ${endText(event.data)}`;
    case 'attempt.corrected': {
      const by = event.data.by === 'person' ? ', by an operator' : '';
      return `${call} corrected to: ${endText(event.data)}${by}`;
    }
    case 'recipient.outcome': {
      const { outcome, reason } = event.data;
      if (outcome === null) return 'outcome taken back: the row waits again';
      return `outcome ${outcome}${reason === null ? '' : `: ${reasonText(reason)}`}`;
    }
    case 'recipient.retried':
      return 'an operator put it into the next round';
    case 'recipient.added':
      return 'an operator added the row';
    case 'recipient.corrected':
      return `an operator corrected the row${event.data.numberChanged ? ', and its number' : ''}`;
    case 'recipient.withdrawn':
      return 'an operator withdrew the row';
    default:
      return tellEvent(event) ?? event.type;
  }
}

function endText({
  disposition,
  detail,
  counted,
}: {
  disposition: Disposition;
  detail: string | null;
  counted: boolean;
}): string {
  const said = detail === null ? '' : ` (${reasonText(detail)})`;
  return `${dispositionWords[disposition]}${said}${counted ? '' : '; it does not use up an attempt'}`;
}

function reasonText(reason: string): string {
  return printable(reason).replaceAll('_', ' ');
}

const ruleWords: Readonly<Record<Extract<Eligibility, { verdict: 'wait' | 'final' }>['reason'], string>> = {
  not_before: 'its time has not come',
  number_busy: 'the number is on another open call',
  attempt_budget: 'its attempts are used up until then',
  frequency_cap: 'a frequency cap is used up until then',
  outside_hours: 'calling hours open then',
  campaign_end: 'the campaign ends before',
  row_expired: 'the row expires before',
  suppressed: 'the number is on the do-not-call list',
  attempts_used_up: 'all its attempts are used up',
  unknown_timezone: 'its time zone is not known',
  no_open_window_before_end: 'no calling hours are left before the end',
  capped_until_end: 'a frequency cap is used up until the end',
};

/** `May be called next at …, because …`, of a row and the rules now. */
export function nextCallText({ campaign, recipient, verdict }: CalleeRow): string {
  if (recipient.state === 'open') return 'A call is planned or open.';
  if (recipient.state === 'done')
    return `It has its outcome, ${recipient.outcome ?? 'none'}, and is not called again in this round.`;
  if (verdict === null) return `It waits, and the campaign is ${campaign.state}.`;
  if (verdict.verdict === 'final') return `It will not be called: ${ruleWords[verdict.reason]}.`;
  const paused = campaign.state === 'paused' ? ' once the campaign is resumed' : '';
  if (verdict.verdict === 'dial') return `It may be called now${paused}, as soon as its turn comes.`;
  return `It may be called at ${instantText(verdict.until)}${paused}: ${ruleWords[verdict.reason]}.`;
}
