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

/** The one column that a name means; null: none, or several. */
export function theColumn(name: string, columns: readonly string[]): string | null {
  const found = findColumn(name, columns);
  return found !== null && 'column' in found ? found.column : null;
}

/** How many of these names are columns, or fit several: as `findColumn` finds them, with the columns looked at once. */
export function countNamed(names: readonly string[], columns: readonly string[]): number {
  const exact = new Set(columns);
  let folded: Set<string> | null = null;
  return names.filter((name) => {
    if (exact.has(name)) return true;
    folded ??= new Set(columns.map(foldColumnName));
    const wanted = foldColumnName(name);
    return wanted !== '' && folded.has(wanted);
  }).length;
}

function foldColumnName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/[\s_]+/gu, '_')
    .toLowerCase();
}

/** Header names and cells of one row as a record; a missing cell reads as the empty string. */
export function recipientFields(columns: readonly string[], cells: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  columns.forEach((column, index) => {
    fields[column] = cells[index] ?? '';
  });
  return fields;
}
