/** The column a name means, or several candidates; null: none. */
export type ColumnReading = { column: string } | { several: string[] } | null;

/**
 * Finds the column a campaign file names. An exact match wins; else case, surrounding and odd blanks, invisible characters, and blank
 * versus `_` (for templates, which cannot name blanks) are ignored.
 */
export function findColumn(name: string, columns: readonly string[]): ColumnReading {
  if (columns.includes(name)) return { column: name };
  const wanted = foldColumnName(name);
  const found = wanted === '' ? [] : columns.filter((column) => foldColumnName(column) === wanted);
  const [only] = found;
  if (only === undefined) return null;
  return found.length === 1 ? { column: only } : { several: found };
}

/** The only column a name means; null: none or several. */
export function theColumn(name: string, columns: readonly string[]): string | null {
  const found = findColumn(name, columns);
  return found !== null && 'column' in found ? found.column : null;
}

/** Counts the names that match columns as in `findColumn`, but folds the columns once. */
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

/** One row as a record by header name; a missing cell reads as the empty string. */
export function recipientFields(columns: readonly string[], cells: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  columns.forEach((column, index) => {
    fields[column] = cells[index] ?? '';
  });
  return fields;
}
