import { sql } from 'kysely';
import { codeOf } from '../../shared/input/errors.ts';
import type { Tx } from '../tx.ts';

/** A value that the database cannot hold, or that a column does not take. A unique index guards a promise, and is none of them. */
const refusals = /^(22[0-9A-Z]{3}|23502|23514|SQLITE_(CONSTRAINT_(CHECK|NOTNULL)|MISMATCH|TOOBIG))$/;

/** Why a row ends that was imported, and whose text cannot be stored. */
export const unusableText = 'unusable_text';
export const refusedEdit = {
  result: 'failed',
  code: 'malformed_row',
  hint: 'the database cannot store what it says; look for odd characters',
  campaignRow: null,
} as const;

/**
 * Works on rows together; where the database refuses one, on parts, until that row is by itself: `alone` answers it. `work` must leave
 * nothing behind where it fails.
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

/** Does work within a transaction that goes on where the work fails, without what it had written. */
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
