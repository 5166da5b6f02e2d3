import { once } from 'node:events';
import { stringify } from 'csv-stringify/sync';
import type { RecipientResult } from '../store/result-rows.ts';
import { refuseToOverwrite, writeWholeFile } from './whole-file.ts';

/** What became of one data row. Times are epoch milliseconds. */
export type ResultRow = Omit<RecipientResult, 'row'>;

export interface WriteResultsInput {
  /** Header of the list as imported. */
  columns: readonly string[];
  /** One per data row, in file order. */
  rows: AsyncIterable<ResultRow>;
  /** Keys of all collected values and evaluations of the campaign; each becomes a column. */
  collectedKeys: readonly string[];
  evaluationKeys: readonly string[];
  /** Where to write; `-` for `stdout`. */
  path: string;
  /** The list that was imported, which is never overwritten. */
  listPath: string | null;
  stdout: NodeJS.WritableStream;
}

const resultColumns = [
  'outcome',
  'reason',
  'attempts',
  'disposition',
  'detail',
  'conversation_id',
  'first_dialed_at',
  'last_dialed_at',
  'ended_at',
  'duration_seconds',
  'audio',
] as const;
const linesPerChunk = 500;

/**
 * Writes the results as CSV: one line per row, the original columns first. Answers the number of rows written.
 *
 * The original cells are written as they were read, never altered: they are the user's own, and a number such as
 * `+12125550101` must survive. The added cells are guarded: one that a spreadsheet would run as a formula gets a leading
 * apostrophe. A file appears whole or not at all; standard output gets rows as they come.
 * @throws OutputFileError
 */
export async function writeResults(input: WriteResultsInput): Promise<number> {
  const counter = { rows: 0 };
  const lines = renderLines(input, counter);
  if (input.path === '-') {
    for await (const chunk of lines) if (!input.stdout.write(chunk)) await once(input.stdout, 'drain');
    return counter.rows;
  }
  await refuseToOverwrite(input.path, input.listPath === null ? [] : [input.listPath]);
  await writeWholeFile(input.path, lines);
  return counter.rows;
}

/** How the header of a campaign's results file begins, whatever was collected: by this such a file can be told from any other. */
export function resultsHeaderStart(columns: readonly string[]): string {
  return stringify([renderHeader({ columns, collectedKeys: [], evaluationKeys: [] })]).trimEnd();
}

async function* renderLines(input: WriteResultsInput, counter: { rows: number }): AsyncGenerator<string> {
  let records: string[][] = [renderHeader(input)];
  for await (const row of input.rows) {
    records.push(renderRow(row, input));
    counter.rows += 1;
    if (records.length < linesPerChunk) continue;
    yield stringify(records);
    records = [];
  }
  if (records.length > 0) yield stringify(records);
}

function renderHeader({
  columns,
  collectedKeys,
  evaluationKeys,
}: Pick<WriteResultsInput, 'columns' | 'collectedKeys' | 'evaluationKeys'>): string[] {
  const taken = new Set(columns);
  const added = [
    ...resultColumns,
    ...collectedKeys.map((key) => `collected.${key}`),
    ...evaluationKeys.map((key) => `evaluation.${key}`),
  ].map((name) => {
    let unique = guard(name);
    while (taken.has(unique)) unique = `carillon_${unique}`;
    taken.add(unique);
    return unique;
  });
  return [...columns, ...added];
}

function renderRow(row: ResultRow, { columns, collectedKeys, evaluationKeys }: WriteResultsInput): string[] {
  const original = columns.map((_, index) => row.cells[index] ?? '');
  const surplus = row.cells.slice(columns.length);
  // A row with too many cells may not push the columns after it out of place, nor lose what it held.
  const detail =
    surplus.length === 0
      ? row.detail
      : [row.detail, `surplus cells: ${surplus.join(' | ')}`].filter(Boolean).join('; ');
  const added = [
    row.outcome,
    row.reason,
    row.attempts,
    row.disposition,
    detail,
    row.conversationId,
    renderTime(row.firstDialedAt),
    renderTime(row.lastDialedAt),
    renderTime(row.endedAt),
    row.durationMs === null ? null : row.durationMs / 1000,
    row.audio,
    ...collectedKeys.map((key) => pick(row.collected, key)),
    ...evaluationKeys.map((key) => pick(row.evaluation, key)),
  ];
  return [...original, ...added.map(renderCell)];
}

function pick(record: Record<string, unknown> | null, key: string): unknown {
  return record !== null && Object.hasOwn(record, key) ? record[key] : null;
}

function renderTime(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}

function renderCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return guard(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

/** Spreadsheets run a cell that begins with one of these as a formula; a leading apostrophe makes it text. */
function guard(cell: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
}
