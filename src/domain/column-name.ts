/** Which column a name means: the one, or those between which it cannot decide; null: none. */
export type ColumnReading = { column: string } | { several: string[] } | null;

/**
 * Finds the column that a campaign file names. A column with exactly that name wins; else case, blanks around it, odd blanks, invisible
 * characters, and the difference between blanks and `_` do not matter (a template cannot name a column with a blank).
 */
export function findColumn(name: string, columns: readonly string[]): ColumnReading {
  if (columns.includes(name)) return { column: name };
  const wanted = foldColumnName(name);
  const found = wanted === '' ? [] : columns.filter((column) => foldColumnName(column) === wanted);
  const [only] = found;
  if (only === undefined) return null;
  return found.length === 1 ? { column: only } : { several: found };
}

function foldColumnName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/[\s_]+/gu, '_')
    .toLowerCase();
}
