import type { ResultRow } from '../../src/presentation/results/columns.ts';

/** A row of which nothing is known but that it was rejected. */
export const blankResult: ResultRow = {
  row: 1,
  cells: [],
  outcome: 'rejected',
  reason: null,
  attempts: 0,
  result: null,
  callback: null,
  disposition: null,
  detail: null,
  conversationId: null,
  firstDialedAt: null,
  lastDialedAt: null,
  endedAt: null,
  durationMs: null,
  audio: null,
  candidates: [],
  collected: null,
  evaluation: null,
};

export async function* rowsOf(rows: Iterable<ResultRow>): AsyncGenerator<ResultRow> {
  yield* rows;
}
