import pc from 'picocolors';
import { campaignTitle, goalText, stateText } from '../../../presentation/words/campaign.ts';
import { unreachedText } from '../../../presentation/words/causes.ts';
import { causeText } from '../../../presentation/words/needs.ts';
import { clockSpan, count, percentCell, plural } from '../../../shared/input/figures.ts';
import type { CallLine, CountLine, Report, WeekHour } from '../../../ledger/read/report.ts';
import { renderTable, type Column } from '../terminal/table.ts';
import { costOf, moneyText, type Price } from '../../../rules/price.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';

/** Free text has as many values as calls, and a world-wide list many zones; JSON has all. */
const mostShown = 20;

/** `width`: terminal columns; null: unlimited. */
export function renderReport(campaign: Campaign, report: Report, width: number | null, colour: boolean): string {
  const { bold } = pc.createColors(colour);
  const calls = (title: string, lines: readonly CallLine[] | undefined, most = Infinity): string =>
    lines === undefined ? '' : table(callColumns(title), lines, { most, width, bold });
  const counts = (title: string, noun: string, lines: readonly CountLine[]): string =>
    table(countColumns(title, noun), lines, { most: mostShown, width, bold });
  const values = (kind: string, tables: Readonly<Record<string, CountLine[]>> | undefined): string =>
    Object.entries(tables ?? {})
      .map(([key, lines]) => counts(`${kind}.${key}`, 'calls', lines))
      .join('');
  return [
    `${bold(`${campaignTitle(campaign)}: ${stateText(campaign)}`)}\n${summary(report, campaign.rules.price)}\n`,
    report.outcome === undefined ? '' : counts('outcome', 'rows', report.outcome),
    report.doubt === undefined ? '' : counts('unresolved because', 'rows', report.doubt.map(toWords)),
    report.unreached === undefined ? '' : counts('not reached because', 'rows', report.unreached.map(toUnreached)),
    calls('call ended', report.disposition),
    report.result === undefined ? '' : counts('talk came to', 'talks', report.result),
    report.goal == null ? '' : `${goalText(report.goal.talks, 'talks')}\n${goalText(report.goal.people, 'people called')}\n`,
    calls('attempt', report.attempt),
    calls('local hour', report.hour),
    weekTable(report.week ?? [], bold),
    calls('day', report.day),
    calls('time zone', report.zone, mostShown),
    calls('caller number', report.caller),
    values('collected', report.collected),
    values('evaluation', report.evaluation),
  ].join('');
}

function toWords(line: CountLine): CountLine {
  return { ...line, value: causeText(line.value) };
}

function toUnreached(line: CountLine): CountLine {
  return { ...line, value: unreachedText(line.value) };
}

function summary({ rows, calls }: Report, price: Price | undefined): string {
  const parts = [`${plural(rows.total, 'row')}, ${count(rows.ended)} with an outcome`];
  if (calls !== null) {
    parts.push(calls.open === 0 ? plural(calls.calls, 'call') : `${plural(calls.calls, 'call')}, ${count(calls.open)} open`);
    if (calls.answerRate !== null) parts.push(`${count(calls.answered)} answered (${percentCell(calls.answerRate)})`);
    if (calls.talkSeconds !== null) parts.push(`${clockSpan(calls.talkSeconds)} on the line`);
    if (price !== undefined) parts.push(moneyText(costOf((calls.talkSeconds ?? 0) * 1000, price), price.currency));
  }
  return parts.join(' · ');
}

function table<Line>(
  columns: readonly Column<Line>[],
  lines: readonly Line[],
  { most, width, bold }: { most: number; width: number | null; bold: (text: string) => string },
): string {
  if (lines.length === 0) return '';
  const [heading = '', ...body] = renderTable(columns, lines.slice(0, most), width).trimEnd().split('\n');
  const rest = lines.length - most;
  const more = rest > 0 ? [`and ${count(rest)} more: --json has all`] : [];
  return `\n${[bold(heading), ...body, ...more].join('\n')}\n`;
}

function callColumns(title: string): Column<CallLine>[] {
  return [
    {
      title,
      value: ({ value }) => (typeof value === 'number' && title === 'local hour' ? hourText(value) : String(value)),
      flexible: true,
    },
    numbers('calls', ({ calls }) => count(calls)),
    numbers('answered', ({ answered }) => count(answered)),
    numbers('rate', ({ answerRate }) => (answerRate === null ? '' : percentCell(answerRate))),
    numbers('on the line', ({ talkSeconds }) => (talkSeconds === null ? '' : clockSpan(talkSeconds))),
  ];
}

function countColumns(title: string, noun: string): Column<CountLine>[] {
  return [
    { title, value: ({ value }) => value, flexible: true },
    numbers(noun, (line) => count(line.count)),
    numbers('share', ({ share }) => percentCell(share)),
  ];
}

const numberWidth = 11;

function numbers<Line>(title: string, value: (line: Line) => string): Column<Line> {
  return { title: title.padStart(numberWidth), value: (line) => value(line).padStart(numberWidth) };
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Answered percent of ended calls, by weekday and hour; only hours with calls. */
function weekTable(lines: readonly WeekHour[], bold: (text: string) => string): string {
  if (lines.length === 0) return '';
  const hours = [...new Set(lines.map(({ hour }) => hour))].toSorted((a, b) => a - b);
  const rates = new Map(lines.map(({ weekday, hour, answerRate }) => [weekday * 24 + hour, answerRate]));
  const cell = (rate: number | null | undefined): string => (rate == null ? '' : String(Math.round(rate * 100)));
  const line = (title: string, cells: readonly string[]): string =>
    `${title.padEnd(10)}${cells.map((text) => text.padStart(4)).join('')}`.trimEnd();
  return [
    '',
    bold(line('% answered', hours.map(String))),
    ...weekdays.flatMap((name, weekday) => {
      const cells = hours.map((hour) => cell(rates.get(weekday * 24 + hour)));
      return cells.every((text) => text === '') ? [] : [line(name, cells)];
    }),
    '',
  ].join('\n');
}

function hourText(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}
