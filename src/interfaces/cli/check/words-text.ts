import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import type { CheckReport } from '../../../operations/control/check/check.ts';
import { count, plural, span } from '../../../shared/input/figures.ts';
import { printable, wrapped } from '../../../shared/input/printable.ts';

type Told = Pick<CheckReport, 'accepted' | 'openingLines' | 'records' | 'words'>;

/** Whether the records will tell the calls of a list apart, what it costs where they do not, and what mends it. */
export function renderOpeningLines(rules: Pick<CampaignRules, 'sharedWords' | 'firstMessage'>, report: Told): string[] {
  const { accepted, openingLines, records } = report;
  if (accepted < 2) return [];
  const { advice, begunExample, begun, beginningsKnown } = openingLines;
  const example = begunExample === null ? '' : `, such as "${begunExample.short}" and "${begunExample.long}"`;
  const lines = [
    headline(rules, report),
    ...(begun === 0
      ? []
      : [
          `${plural(begun, 'row')} begin${begun === 1 ? 's' : ''} with the whole line of another row and go${begun === 1 ? 'es' : ''} on${printable(example)}: a record cut short may be either's.`,
        ]),
    ...(beginningsKnown ? [] : ['The list is too long to say of all lines whether one begins another.']),
    ...consequences(rules, report),
    ...(advice === null ? [] : [advice]),
    records.asked
      ? recordsText(records, report)
      : `The agent's records were not looked at (${records.reason.replace(/\.$/, '')}), so how many rows end in doubt cannot be foretold.`,
  ];
  const [first = '', ...rest] = lines;
  return ['', ...wrapped(first), ...rest.flatMap((line) => wrapped(line, '  '))];
}

function headline({ firstMessage }: Pick<CampaignRules, 'firstMessage'>, { accepted, openingLines }: Told): string {
  if (firstMessage === null)
    return `Opening lines: the file has no first_message, so all ${count(accepted)} calls open with the same words.`;
  if (openingLines.shared === 0) return 'Opening lines: every recipient has one of their own.';
  return `Opening lines: ${count(openingLines.shared)} of ${count(accepted)} are shared by more than one row.`;
}

function consequences({ sharedWords, firstMessage }: Pick<CampaignRules, 'sharedWords' | 'firstMessage'>, told: Told): string[] {
  const { openAtOnce, longestMs, late } = told.words;
  if (told.openingLines.shared === 0) return [];
  if (openAtOnce === null)
    return sharedWords === 'wait'
      ? []
      : ['With shared_words: unresolved they are called at once all the same; whoever cannot be told apart ends in doubt (unresolved).'];
  const until = firstMessage === null ? ' until a record of the agent shows number or reference' : '';
  return [
    `Calls with the same words are made one at a time${until} (at most ${count(openAtOnce)} open at once). ` +
      `The largest set has ${plural(told.openingLines.largest, 'row')}: ${span(longestMs)} of calls, one after the other.`,
    ...(late === 0 ? [] : [`At least ${plural(late, 'row')} would have no turn before the end (expired, words_busy).`]),
  ];
}

function recordsText({ read, naming }: { read: number; naming: number }, { words: { doubtful } }: Told): string {
  if (read === 0) return 'The agent has no finished record of a call yet, so how many rows end in doubt cannot be foretold.';
  const shown = `Of the agent's last ${plural(read, 'record')} of calls ${count(naming)} show number or reference`;
  return `${shown}; ${doubtful === 0 ? 'no row is likely to' : `about ${plural(doubtful ?? 0, 'row')} may`} end in doubt.`;
}
