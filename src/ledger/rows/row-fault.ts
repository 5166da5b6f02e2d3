import { sql } from 'kysely';
import { codeOf } from '../../shared/input/errors.ts';
import type { Tx } from '../tx.ts';

/** Values the database or a column cannot hold. Unique violations are left out: they guard an invariant. */
const refusals = /^(22[0-9A-Z]{3}|23502|23514|SQLITE_(CONSTRAINT_(CHECK|NOTNULL)|MISMATCH|TOOBIG))$/;

export const unusableText = 'unusable_text';
export const refusedEdit = {
  result: 'failed',
  code: 'malformed_row',
  hint: 'the database cannot store what it says; look for odd characters',
  campaignRow: null,
} as const;

/**
 * If the database refuses a row, splits the rows until it is alone, for `alone` to answer. `work` must leave nothing behind when it fails.
 */
export async function sparingOthers<Row, Result>(
  rows: readonly Row[],
  work: (rows: readonly Row[]) => Promise<readonly Result[]>,
  alone: (row: Row) => Promise<readonly Result[]>,
): Promise<Result[]> {
  try {
    return [...(await work(rows))];
  } catch (error) {
    const [first] = rows;
    if (first === undefined || !refusals.test(codeOf(error) ?? '')) throw error;
    if (rows.length === 1) return [...(await alone(first))];
    const half = Math.ceil(rows.length / 2);
    return [...(await sparingOthers(rows.slice(0, half), work, alone)), ...(await sparingOthers(rows.slice(half), work, alone))];
  }
}

/** In a savepoint: a failure undoes the work, and the transaction continues. */
export async function undoably<Result>(tx: Tx, work: () => Promise<Result>): Promise<Result> {
  await sql`savepoint undoable`.execute(tx);
  try {
    const result = await work();
    await sql`release savepoint undoable`.execute(tx);
    return result;
  } catch (error) {
    await sql`rollback to savepoint undoable`.execute(tx);
    throw error;
  }
}
