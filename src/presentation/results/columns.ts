import type { RecipientResult } from '../../ledger/read/result-rows.ts';

/** Result of one data row. Times are epoch ms. */
export type ResultRow = RecipientResult;

export interface ResultsTable {
  columns: readonly string[];
  /** Each becomes a column. */
  collectedKeys: readonly string[];
  evaluationKeys: readonly string[];
  /** The campaign has `results` rules: adds a column. */
  hasResults?: boolean;
  /** The campaign has callbacks: adds two columns. */
  hasCallbacks?: boolean;
}

export type ResultValue = string | number | boolean | null;

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
  'candidates',
] as const;

/** Missing in results before version 0.3; `row` is the number that commands expect. */
const laterColumns = ['row'];

/** List columns, then the added ones, prefixed if the list uses the name. */
export function resultsHeader({ columns, collectedKeys, evaluationKeys, hasResults, hasCallbacks }: ResultsTable): string[] {
  const taken = new Set(columns);
  const added = [
    ...resultColumns,
    ...laterColumns,
    ...(hasResults === true ? ['result'] : []),
    ...(hasCallbacks === true ? ['callback_at', 'callback_state'] : []),
    ...collectedKeys.map((key) => `collected.${key}`),
    ...evaluationKeys.map((key) => `evaluation.${key}`),
  ].map((name) => {
    let unique = name;
    while (taken.has(unique)) unique = `carillon_${unique}`;
    taken.add(unique);
    return unique;
  });
  return [...columns, ...added];
}

/** How the header begins in results of every version; distinguishes them from other files. */
export function resultsHeaderStart(columns: readonly string[]): string[] {
  const { length } = laterColumns;
  return resultsHeader({ columns, collectedKeys: [], evaluationKeys: [] }).slice(0, -length);
}

export interface ResultCells {
  /** List cells as read, one per column. */
  original: string[];
  added: ResultValue[];
}

/** One result line in header order. Instants are ISO text. */
export function resultCells(
  row: ResultRow,
  { columns, collectedKeys, evaluationKeys, hasResults, hasCallbacks }: ResultsTable,
): ResultCells {
  const surplus = row.cells.slice(columns.length);
  // Surplus cells go into `detail`: they must neither shift the columns nor be lost.
  const detail = surplus.length === 0 ? row.detail : [row.detail, `surplus cells: ${surplus.join(' | ')}`].filter(Boolean).join('; ');
  return {
    original: columns.map((_, index) => row.cells[index] ?? ''),
    added: [
      row.outcome,
      row.reason,
      row.attempts,
      row.disposition,
      detail,
      row.conversationId,
      isoInstant(row.firstDialedAt),
      isoInstant(row.lastDialedAt),
      isoInstant(row.endedAt),
      row.durationMs === null ? null : row.durationMs / 1000,
      row.audio,
      row.candidates.length === 0 ? null : row.candidates.join(' '),
      row.row,
      ...(hasResults === true ? [row.result] : []),
      ...(hasCallbacks === true ? [isoInstant(row.callback?.dueAt ?? null), row.callback?.state ?? null] : []),
      ...collectedKeys.map((key) => pick(row.collected, key)),
      ...evaluationKeys.map((key) => pick(row.evaluation, key)),
    ],
  };
}

export function isoInstant(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}

function pick(record: Record<string, unknown> | null, key: string): ResultValue {
  const value = record !== null && Object.hasOwn(record, key) ? record[key] : null;
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value) ?? null;
}
