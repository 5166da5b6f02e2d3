import { faultWords, type CallerFault } from '../../rules/caller-choice.ts';
import type { Need } from '../../ledger/read/campaign-view.ts';
import { count, plural, span } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import { acceptedLate, notToldApart } from '../../rules/disposition.ts';
import { givenUp } from '../../rules/attempts/retry-schedule.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { DoubtCounts } from '../../ledger/read/doubt-counts.ts';

interface NeedText {
  what: string;
  todo: string;
}

/** Text for a reader who sees the campaign; all of it is printable. */
export function needText(need: Exclude<Need, { kind: 'failed' | 'paused' | 'unresolved' }>): NeedText {
  switch (need.kind) {
    case 'callbacks':
      return { what: callbacksText(need), todo: 'Say when to call them back, or that nobody is to.' };
    case 'caller_out':
      return {
        what: `Caller number ${printable(need.phoneNumberId)} is taken out: it ${faultText(need.reason)}`,
        todo: 'Set it right with the service. It calls again as soon as the service says that it may.',
      };
    case 'hook_silent':
      return {
        what: 'The pre-dial hook (pre_dial.url) does not answer, and nobody is called until it does',
        todo: 'Set its server right; the next answer lets the campaign go on.',
      };
    case 'hook_failed': {
      const what = need.hook === 'on_completion' ? 'end' : 'pause';
      return {
        what: `The receiver of ${need.hook}.url could not be notified of the ${what}`,
        todo: 'Tell it by other means. The log of the worker says what went wrong.',
      };
    }
    case 'clocks_apart':
      return {
        what: `The service’s clock is ${span(Math.abs(need.apartMs))} ${need.apartMs > 0 ? 'ahead of' : 'behind'} a worker’s, and nobody is called until they agree`,
        todo: 'Set the clock of the machine (NTP).',
      };
  }
}

function callbacksText({ unclear, overdue }: Extract<Need, { kind: 'callbacks' }>): string {
  const parts = [
    ...(unclear === 0 ? [] : [`${plural(unclear, 'person', 'people')} asked to be called back, and when is not clear`]),
    ...(overdue === 0 ? [] : [`${plural(overdue, 'call back')} could not be made in time`]),
  ];
  return parts.join('; ');
}

function faultText(reason: string): string {
  return faultWords[reason as CallerFault] ?? printable(reason);
}

/** Why a row's result cannot be known, by its reason or its last call's detail. */
const causes: Readonly<Record<string, string>> = {
  [notToldApart]: 'a record may belong to their call, or to another one',
  [acceptedLate]: 'their batch was considered lost, but was carried out after all',
  [givenUp]: 'given up by an operator',
  held: 'the answer to their batch was lost, and no record shows it',
  no_record: 'the answer to their batch was lost; records show other calls of it, but not theirs',
  no_record_shown: 'the service has shown no record of this campaign, so a missing one proves nothing',
  clock_stepped: 'a clock was set while their call was open, so it is unknown when a record began',
  denied: 'the service reported that it accepted no call, but a record shows one',
  not_reported: 'the report of their batch leaves their call out, or cannot be read any more',
  no_conversation: 'the service reports their call as made, and names no conversation',
  carried_out_twice: 'the service has the request for their batch more than once',
  record_tells_nothing: 'their record does not say what happened',
};

export function causeText(cause: string): string {
  return causes[cause] ?? cause;
}

/** One line on rows that wait or ended because calls cannot be distinguished, with the fix; may be empty. */
export function apartText({ campaignId, rules }: Campaign, doubt: DoubtCounts): string {
  const waiting = doubt.waitingForWords + doubt.waitingForEvidence;
  const unresolved = doubt.unresolved[notToldApart] ?? 0;
  const ended = unresolved + doubt.wordsBusy;
  if (waiting + ended === 0) return '';
  const most = doubt.waitingForWords >= doubt.mostCounted ? 'at least ' : '';
  const parts = [
    ...(waiting > 0 ? [`${most}${plural(waiting, 'row')} wait${waiting === 1 ? 's' : ''}`] : []),
    ...(ended > 0 ? [`${plural(ended, 'row')} ended`] : []),
  ];
  const fixes = [
    ...(unresolved > 0 ? [`decide: carillon resolve ${campaignId} --candidates FILE`] : []),
    `next time: name a column that differs in first_message${rules.variables?.reference == null ? ', or send a variables.reference' : ''}`,
  ];
  return `${parts.join(' and ')} because calls cannot be told apart (${fixes.join('; ')})`;
}

export function unresolvedLines({ campaignId }: Campaign, { unresolved }: DoubtCounts): string[] {
  const rows = Object.entries(unresolved).toSorted((a, b) => b[1] - a[1]);
  const all = rows.reduce((sum, [, times]) => sum + times, 0);
  if (all === 0) return [];
  const open = all - (unresolved[givenUp] ?? 0);
  const apart = unresolved[notToldApart] ?? 0;
  return [
    '',
    `${plural(all, 'row')} unresolved: it cannot be known whether they were reached, so Carillon does not call them again by itself.`,
    ...rows.map(([cause, times]) => `${count(times).padStart(9)}  ${causeText(cause)}`),
    ...(open === 0
      ? []
      : [
          'You decide:',
          `  carillon resolve ${campaignId} --candidates FILE   row by row, with the records that may be theirs side by side`,
        ]),
    ...(open > apart
      ? [`  carillon resolve ${campaignId} --redial            dial the others (one or the other may then be called twice)`]
      : []),
    ...(open === 0 ? [] : [`  carillon resolve ${campaignId} --give-up           leave them as they are`]),
  ];
}
