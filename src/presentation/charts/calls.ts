import { clockSpan, count, percentCell } from '../../shared/input/figures.ts';
import type { CallerLine, CallLine, WeekHour } from '../../ledger/read/report.ts';
import { barChart } from './drawing.ts';
import type { Chart, FigureRow } from './chart.ts';
import { drawMatrix } from './matrix.ts';
import { asWords } from './rows.ts';

const noCalls = 'Nobody was called yet.';
const columns = ['Calls', 'Ended', 'Answered', 'Answer rate', 'On the line'];

export function dispositionChart(lines: readonly CallLine[]): Chart {
  const all = lines.reduce((sum, { calls }) => sum + calls, 0);
  const bars = lines.map(({ value, calls }) => ({
    name: asWords(String(value)),
    value: calls,
    figure: `${count(calls)} (${percentCell(calls / all)})`,
  }));
  return barChart({ title: 'How calls ended', whenEmpty: noCalls }, bars, {
    columns: ['Ended', 'Calls', 'Share', 'On the line'],
    rows: lines.map(({ value, calls, talkSeconds }) => ({
      cells: [asWords(String(value)), count(calls), percentCell(calls / all), onTheLine(talkSeconds)],
    })),
  });
}

export function attemptsChart(lines: readonly CallLine[]): Chart {
  const all = lines.reduce((sum, { answered }) => sum + answered, 0);
  let soFar = 0;
  const rows = lines.map((line): FigureRow => {
    soFar += line.answered;
    const brought = [line.answered, soFar].map((part) => (all === 0 ? '' : percentCell(part / all)));
    return { cells: [`Call ${line.value}`, ...callCells(line), ...brought] };
  });
  const note = 'What the first call to each person and every further one brought, and the part of them that was answered.';
  const bars = lines.map((line) => rateBar(`Call ${line.value}`, line));
  return barChart({ title: 'Attempts', note, whenEmpty: noCalls }, bars, {
    columns: ['Call to a person', ...columns, 'Of all answered', 'Up to here'],
    rows,
  });
}

/** Calls per day of the recipients' own calendar; the drawing shows only the last days. */
export function daysChart(lines: readonly CallLine[]): Chart {
  const note = 'Calls of the recipients’ own days, and the part of them that a person answered.';
  return ratesChart({ title: 'Calls by day', column: 'Day', note }, lines, lines.slice(-mostDays));
}

export function callersChart(lines: readonly CallerLine[]): Chart {
  const note = 'Calls from each number, and the part of them that a person answered.';
  return ratesChart({ title: 'Caller numbers', column: 'Caller number', note }, lines, lines);
}

function ratesChart(
  { title, column, note }: { title: string; column: string; note: string },
  lines: readonly CallLine[],
  drawn: readonly CallLine[],
): Chart {
  const bars = drawn.map((line) => rateBar(String(line.value), line));
  const rows = lines.map((line) => ({ cells: [String(line.value), ...callCells(line)] }));
  return barChart({ title, note, whenEmpty: noCalls }, bars, { columns: [column, ...columns], rows });
}

const mostDays = 14;
const mostCallers = 12;

/** Recent days per caller number: an early sign that calls from it go unanswered. */
export function callerDaysChart(lines: readonly CallerLine[]): Chart {
  const title = 'Caller numbers by day';
  const known = [...new Set(lines.flatMap(({ days }) => days.map(({ value }) => String(value))))].sort();
  const days = known.slice(-mostDays);
  const shown = lines.slice(0, mostCallers);
  const cells = shown.flatMap((line, row) =>
    line.days.flatMap((day) => {
      const column = days.indexOf(String(day.value));
      return column === -1 ? [] : [{ column, row, share: day.answerRate, lines: cellLines(day) }];
    }),
  );
  const text = `Answer rate of ${count(shown.length)} numbers on ${count(days.length)} days, from ${days[0]} to ${days.at(-1)}.`;
  return {
    title,
    note: 'Answer rate and calls, in the recipients’ own days. Shaded in steps of 20 %.',
    drawing:
      cells.length === 0
        ? null
        : drawMatrix(title, text, {
            columns: days.map((day) => day.slice(5)),
            rows: shown.map(({ value }) => String(value)),
            cells,
          }),
    figures: {
      columns: ['Caller number', ...days],
      rows: shown.map((line) => ({
        cells: [String(line.value), ...days.map((day) => matrixCell(line.days.find(({ value }) => String(value) === day)))],
      })),
      more: lines.length - shown.length,
    },
    whenEmpty: noCalls,
  };
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

export function weekChart(lines: readonly WeekHour[]): Chart {
  const title = 'Answer rate by hour of the week';
  const hours = lines.map(({ hour }) => hour);
  const first = Math.min(...hours);
  const shown = lines.length === 0 ? [] : Array.from({ length: Math.max(...hours) - first + 1 }, (_, n) => first + n);
  const best = lines
    .filter(({ answerRate }) => answerRate !== null)
    .toSorted((a, b) => (b.answerRate ?? 0) - (a.answerRate ?? 0) || b.calls - a.calls)[0];
  const text =
    best === undefined
      ? 'No call has ended yet.'
      : `The best hour is ${weekdays[best.weekday]} ${hourName(best.hour)}: ${percentCell(best.answerRate ?? 0)} of ${count(best.calls)} calls.`;
  return {
    title,
    note: 'Answer rate and calls, in the recipients’ own time. Shaded in steps of 20 %; hours without a call are empty.',
    drawing:
      lines.length === 0
        ? null
        : drawMatrix(title, text, {
            columns: shown.map(hourName),
            rows: weekdays,
            cells: lines.map((line) => ({
              column: line.hour - first,
              row: line.weekday,
              share: line.answerRate,
              lines: cellLines(line),
            })),
          }),
    figures: {
      columns: ['Weekday', ...shown.map(hourName)],
      rows: lines.length === 0 ? [] : weekdays.map((name, day) => weekRow(name, shown, lines, day)),
    },
    whenEmpty: noCalls,
  };
}

function weekRow(name: string, hours: readonly number[], lines: readonly WeekHour[], day: number): FigureRow {
  const cell = (hour: number): string => matrixCell(lines.find((line) => line.weekday === day && line.hour === hour));
  return { cells: [name, ...hours.map(cell)] };
}

function hourName(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}

type Rated = Pick<CallLine, 'calls' | 'open' | 'answered' | 'answerRate' | 'talkSeconds'>;

function cellLines({ answerRate, calls }: Rated): [string, string] {
  return [answerRate === null ? '–' : `${Math.round(answerRate * 100)} %`, count(calls)];
}

/** `12 of 40`: answered of ended calls, plus open ones. */
function matrixCell(line: Rated | undefined): string {
  if (line === undefined) return '';
  const open = line.open === 0 ? '' : ` + ${count(line.open)} open`;
  return `${count(line.answered)} of ${count(line.calls - line.open)}${open}`;
}

function rateBar(name: string, { answered, calls, answerRate }: Rated) {
  const rate = answerRate === null ? 'open' : percentCell(answerRate);
  return { name, value: answered, whole: calls, figure: `${rate} of ${count(calls)}` };
}

function callCells({ calls, open, answered, answerRate, talkSeconds }: Rated): string[] {
  const rate = answerRate === null ? '' : percentCell(answerRate);
  return [count(calls), count(calls - open), count(answered), rate, onTheLine(talkSeconds)];
}

function onTheLine(seconds: number | null): string {
  return seconds === null ? '' : clockSpan(seconds);
}
