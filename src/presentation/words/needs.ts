import { faultWords, type CallerFault } from '../../rules/caller-choice.ts';
import type { Need } from '../../ledger/read/campaign-view.ts';
import { count, plural, span } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';

/** What only a person can set right, and how. */
interface NeedText {
  what: string;
  todo: string;
}

/** In words for people who see the campaign in front of them; its texts are printable. */
export function needText(need: Need): NeedText {
  switch (need.kind) {
    case 'failed':
      return {
        what: `The campaign has failed: ${reasonText(need.reason)}`,
        todo: 'Mend what the reason names; then carillon start with its file lets it continue.',
      };
    case 'paused':
      return {
        what: `It has paused by itself: ${reasonText(need.reason)}`,
        todo: 'Mend what the reason names, then resume it. If it is resumed before, it pauses again.',
      };
    case 'unresolved':
      return { what: unresolvedText(need), todo: 'Decide about them: nobody calls them again before that.' };
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
        what: `The receiver of ${need.hook}.url could not be told of the ${what}`,
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

function unresolvedText({ rows, apart }: Extract<Need, { kind: 'unresolved' }>): string {
  const some = apart === 0 ? '' : `; of ${count(apart)} the records were not told apart`;
  return `${plural(rows, 'row')} unresolved: nobody knows whether they were reached${some}`;
}

function reasonText(reason: string | null): string {
  return reason === null ? 'no reason is on record' : printable(reason);
}

function faultText(reason: string): string {
  return faultWords[reason as CallerFault] ?? printable(reason);
}
