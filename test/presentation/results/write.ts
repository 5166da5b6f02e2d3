import { temporaryFolder } from '../../support/temporary-folder.ts';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ResultRow } from '../../../src/presentation/results/columns.ts';
import { writeResults, type WriteResultsInput } from '../../../src/presentation/results/file.ts';
import { blankResult, rowsOf } from '../../list/result-row.ts';

/** Writes results of a list with one column, unless `overrides` says otherwise, into a folder of their own. */
export async function write(name: string, results: readonly ResultRow[], overrides: Partial<WriteResultsInput> = {}) {
  const path = overrides.path ?? join(temporaryFolder(), name);
  const table = { columns: ['phone'], collectedKeys: [], evaluationKeys: [] };
  return { path, rows: await writeResults({ ...table, rows: rowsOf(results), stdout: new PassThrough(), ...overrides, path }) };
}

/** Somebody whose second call was answered. */
export const called: ResultRow = {
  ...blankResult,
  row: 7,
  cells: ['+12125550101', 'Zoë "Z", B\nC'],
  outcome: 'completed',
  reason: 'answered',
  attempts: 2,
  disposition: 'answered',
  conversationId: 'conv_1',
  firstDialedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  lastDialedAt: Date.UTC(2026, 0, 3),
  durationMs: 61_500,
  collected: { confirmed: true, slots: ['a', 1], seats: 3 },
  evaluation: { polite: 'success' },
};
