import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ResultRow } from '../../../src/presentation/results/columns.ts';
import { writeResults, type WriteResultsInput } from '../../../src/presentation/results/file.ts';
import { temporaryFolder } from '../../list/campaign-folder.ts';
import { rowsOf } from '../../list/result-row.ts';

/** Writes results of a list with one column, unless `overrides` says otherwise, into a folder of their own. */
export async function write(name: string, results: readonly ResultRow[], overrides: Partial<WriteResultsInput> = {}) {
  const path = overrides.path ?? join(await temporaryFolder(), name);
  const table = { columns: ['phone'], collectedKeys: [], evaluationKeys: [] };
  return { path, rows: await writeResults({ ...table, rows: rowsOf(results), stdout: new PassThrough(), ...overrides, path }) };
}
