import { sql } from 'kysely';
import type { AttemptState } from '../rules/ledger.ts';

/** For the parentheses of raw SQL: text instead of parameters, to match the indexes. */
export function sqlStates(states: readonly AttemptState[]) {
  return sql.join(states.map((state) => sql.lit(state)));
}

/** A statement takes a limited number of values. */
const valuesPerStatement = 500;

export function* partsOf<Value>(values: readonly Value[], size = valuesPerStatement): Generator<Value[]> {
  for (let start = 0; start < values.length; start += size) yield values.slice(start, start + size);
}

export async function readInParts<Value, Row>(values: readonly Value[], read: (part: Value[]) => Promise<readonly Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for (const part of partsOf(values)) rows.push(...(await read(part)));
  return rows;
}
