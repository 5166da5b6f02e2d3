import type { PreflightReport, RejectionSummary, RenderedExample } from '../../../campaign/preflight/preflight.ts';
import { zoneDataRelease } from '../../../rules/hours/time-zone.ts';
import { type CheckResult, verdictText, type CheckReport } from '../../../operations/control/check/check.ts';
import type { LedgerState } from '../../../operations/control/check/ledger.ts';
import type { ServiceState } from '../../../operations/control/check/service.ts';
import { instantText } from '../../../shared/input/times.ts';
import { callableLines } from '../../../presentation/words/causes.ts';
import { renderForecast } from '../../../presentation/words/forecast.ts';
import { accountRuleSentences } from '../../../presentation/words/house.ts';
import { lawSentences, renderLaw } from '../../../presentation/words/law.ts';
import { count, plural, span } from '../../../shared/input/figures.ts';
import { printable, wrapped } from '../../../shared/input/printable.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';

/** At most 80 columns wide unless foreign text is longer. */
export function renderCheck({ file, rules, report, listNotes, obstacle }: CheckResult): string {
  const name = file.name === null ? '' : ` (${printable(file.name)})`;
  const lines = [
    `Campaign  ${file.id}${name}`,
    `List      ${file.listPath}`,
    ...listNotes.map((note) => `          ${printable(note)}`),
    ...renderLaw(file.law),
    `Clocks    time-zone data ${zoneDataRelease}`,
    ...renderCallable(report),
    ...renderLedger(report.ledger),
    ...renderRejections(report.rejections),
    ...renderSection('The law where they are', lawSentences(report.law)),
    ...renderSection('House rules', accountRuleSentences(rules)),
    ...renderExamples(report.examples),
    ...(report.forecast === null ? [] : renderForecast(rules, report.forecast)),
    ...renderService(report.service),
    ...renderOpeningLines(rules, report),
    '',
    ...wrapped(verdictText({ report, obstacle, rules })),
  ];
  return `${lines.join('\n')}\n`;
}

function renderCallable(report: PreflightReport): string[] {
  const { nextAt } = report.start;
  const lines = callableLines(report).map(({ label, rows, note, isPart }) => {
    const text = `  ${`${isPart ? '    ' : ''}${label}`.padEnd(34)}${count(rows).padStart(9)}`;
    return note === '' ? text : `${text}  ${note}`;
  });
  return ['', 'Who can be called', ...lines, ...(nextAt === null ? [] : [`    the first of those who wait: ${instantText(nextAt)}`])];
}

function renderLedger(ledger: LedgerState): string[] {
  const text = ledger.asked
    ? `Do-not-call list and earlier calls: as in ${ledger.database}.`
    : `No database was asked for do-not-call list and earlier calls: ${ledger.reason}.`;
  return wrapped(text, '  ');
}

function renderSection(title: string, sentences: readonly string[]): string[] {
  return sentences.length === 0 ? [] : ['', title, ...sentences.flatMap((sentence) => wrapped(sentence, '  '))];
}

function renderService(service: ServiceState): string[] {
  if (!service.asked) return ['', ...wrapped(`Service: was not asked for agent and caller numbers: ${service.reason.replace(/\.$/, '')}.`)];
  const callers = service.callers.map(({ phoneNumberId, fault, verified }) => {
    const known = verified === true ? 'verified' : 'known; the service does not tell whether it is verified';
    return `  caller ${phoneNumberId}: ${fault === null ? known : `not usable (${fault})`}`;
  });
  const refusal = service.refusal === null ? [] : wrapped(`${service.refusal}.`, '  ');
  return ['', `Service at ${service.url}, agent ${service.agentId}`, ...callers, ...refusal];
}

function renderRejections(rejections: readonly RejectionSummary[]): string[] {
  if (rejections.length === 0) return [];
  const lines = rejections.flatMap(({ reason, count: times, examples }) => [
    `  ${reason.padEnd(18)}${count(times).padStart(9)}`,
    ...examples.flatMap(({ row, line, column, hint }) => {
      const where = column === null ? '' : `, column ${JSON.stringify(column)}`;
      return wrapped(`row ${String(row)} (line ${String(line)})${where}: ${printable(hint)}`, '      ');
    }),
  ]);
  return ['', 'Rejected rows (never dialled; each stands in the results with its reason)', ...lines];
}

function renderExamples(examples: readonly RenderedExample[]): string[] {
  if (examples.length === 0) return [];
  const lines = examples.flatMap(({ row, e164, firstMessage, variables, override }) => [
    `  row ${String(row)}  ${e164}`,
    ...wrapped(firstMessage === null ? "(the agent's own opening line)" : printable(firstMessage), '      '),
    ...Object.entries(variables ?? {}).map(([name, value]) => `      ${name} = ${printable(value)}`),
    ...(override === undefined ? [] : [`      conversation_config_override = ${printable(JSON.stringify(override))}`]),
  ]);
  return ['', 'Examples', ...lines];
}

type Told = Pick<CheckReport, 'accepted' | 'openingLines' | 'records' | 'words'>;

/** Whether records can distinguish the list's calls, the cost if not, and the fix. */
function renderOpeningLines(rules: Pick<CampaignRules, 'sharedWords' | 'firstMessage'>, report: Told): string[] {
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

function consequences({ sharedWords, firstMessage }: Pick<CampaignRules, 'sharedWords' | 'firstMessage'>, report: Told): string[] {
  const { openAtOnce, longestMs, late } = report.words;
  if (report.openingLines.shared === 0) return [];
  if (openAtOnce === null)
    return sharedWords === 'wait'
      ? []
      : ['With shared_words: unresolved they are called at once all the same; those who cannot be told apart end in doubt (unresolved).'];
  const until = firstMessage === null ? ' until a record of the agent shows number or reference' : '';
  return [
    `Calls with the same words are made one at a time${until} (at most ${count(openAtOnce)} open at once). ` +
      `The largest set has ${plural(report.openingLines.largest, 'row')}: ${span(longestMs)} of calls, one after the other.`,
    ...(late === 0 ? [] : [`At least ${plural(late, 'row')} would have no turn before the end (expired, words_busy).`]),
  ];
}

function recordsText({ read, naming }: { read: number; naming: number }, { words: { doubtful } }: Told): string {
  if (read === 0) return 'The agent has no finished record of a call yet, so how many rows end in doubt cannot be foretold.';
  const shown = `Of the agent's last ${plural(read, 'record')} of calls ${count(naming)} show number or reference`;
  return `${shown}; ${doubtful === 0 ? 'no row is likely to' : `about ${plural(doubtful ?? 0, 'row')} may`} end in doubt.`;
}
