import type { PreflightReport, RejectionSummary, RenderedExample } from '../../../campaign/preflight/preflight.ts';
import { zoneDataRelease } from '../../../rules/time-zone.ts';
import { type CheckResult, verdictText } from '../../../operations/control/check/check.ts';
import type { LedgerState } from '../../../operations/control/check/ledger.ts';
import type { ServiceState } from '../../../operations/control/check/service.ts';
import { instantText } from '../../../shared/input/times.ts';
import { exclusionTexts, renderForecast } from '../../../presentation/words/forecast.ts';
import { lawSentences, renderLaw } from '../../../presentation/words/law.ts';
import { count } from '../../../shared/input/figures.ts';
import { printable, wrapped } from '../../../shared/input/printable.ts';
import { renderOpeningLines } from './words-text.ts';

/** The report of `check` for people, in lines of at most 80 characters as far as the words of others allow. */
export function renderCheck({ file, rules, report, listNotes, obstacle }: CheckResult): string {
  const name = file.name === null ? '' : ` (${printable(file.name)})`;
  const lines = [
    `Campaign  ${file.id}${name}`,
    `List      ${file.listPath}`,
    ...listNotes.map((note) => `          ${printable(note)}`),
    ...renderLaw(file.law),
    `Clocks    time-zone data ${zoneDataRelease}`,
    ...renderFunnel(report),
    ...renderLedger(report.ledger),
    ...renderRejections(report.rejections),
    ...renderOutlook(lawSentences(report.law)),
    ...renderExamples(report.examples),
    ...(report.forecast === null ? [] : renderForecast(rules, report.forecast)),
    ...renderService(report.service),
    ...renderOpeningLines(rules, report),
    '',
    ...wrapped(verdictText({ report, obstacle })),
  ];
  return `${lines.join('\n')}\n`;
}

function renderFunnel(report: PreflightReport): string[] {
  const line = (label: string, times: number, note = ''): string =>
    `  ${label.padEnd(34)}${count(times).padStart(9)}${note === '' ? '' : `  ${note}`}`;
  const less = (label: string, times: number, note = ''): string =>
    `  ${label.padEnd(34)}${`-${count(times)}`.padStart(9)}${note === '' ? '' : `  ${note}`}`;
  const { start } = report;
  const waiting = [
    ['    as soon as it starts', start.open],
    ['    when their hours open', start.outsideHours],
    ['    when list.not_before has come', start.notBefore],
    ['    when caps and budgets allow', start.capped],
  ] as const;
  return [
    '',
    'Who can be called',
    line('rows of the list', report.rows),
    ...report.rejections.map(({ reason, count: times }) => less(`rejected: ${reason}`, times)),
    ...report.exclusions.map(({ reason, count: times }) => less(exclusionTexts[reason].label, times, exclusionTexts[reason].note)),
    line('can be called', report.dialable),
    ...waiting.flatMap(([label, times]) => (times === 0 ? [] : [line(label, times)])),
    ...(start.nextAt === null ? [] : [`    the first of those who wait: ${instantText(start.nextAt)}`]),
  ];
}

function renderLedger(ledger: LedgerState): string[] {
  const text = ledger.asked
    ? `Do-not-call list and earlier calls: as in ${ledger.database}.`
    : `No database was asked for do-not-call list and earlier calls: ${ledger.reason}.`;
  return wrapped(text, '  ');
}

function renderOutlook(sentences: readonly string[]): string[] {
  return sentences.length === 0 ? [] : ['', 'The law where they are', ...sentences.flatMap((sentence) => wrapped(sentence, '  '))];
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
