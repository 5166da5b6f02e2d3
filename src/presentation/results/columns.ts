import type { RecipientResult } from '../../ledger/read/result-rows.ts';

/** What became of one data row. Times are epoch milliseconds. */
export type ResultRow = RecipientResult;

export interface ResultsTable {
  columns: readonly string[];
  /** Keys of all collected values and evaluations of the campaign; each becomes a column. */
  collectedKeys: readonly string[];
  evaluationKeys: readonly string[];
  /** The campaign has rules for what a talk came to, which is a column then. */
  hasResults?: boolean;
  /** The campaign calls people back, which are two columns then. */
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

/** Columns that results of versions before 0.3 lack; `row` is the number that commands ask for. */
const laterColumns = ['row'];

/** Names of the columns: those of the list, then the added ones. An added one whose name the list uses gets a prefix. */
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

/** How the header of a campaign's results begins, in files of every version: it tells results from other files. */
export function resultsHeaderStart(columns: readonly string[]): string[] {
  const { length } = laterColumns;
  return resultsHeader({ columns, collectedKeys: [], evaluationKeys: [] }).slice(0, -length);
}

export interface ResultCells {
  /** The cells of the list, as they were read; as many as the list has columns. */
  original: string[];
  added: ResultValue[];
}

/** One line of the results, in the order of the header. Instants are in ISO form. */
export function resultCells(
  row: ResultRow,
  { columns, collectedKeys, evaluationKeys, hasResults, hasCallbacks }: ResultsTable,
): ResultCells {
  const surplus = row.cells.slice(columns.length);
  // A row with too many cells may not push the columns after it out of place, nor lose what it held.
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
