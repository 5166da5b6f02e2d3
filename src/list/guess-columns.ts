import { rowFieldList, type RowFieldKey } from '../campaign/file/row-fields.ts';

/**
 * Guesses which column is for what, by names, and for phone numbers and time zones by what stands in them. A use that no column or several
 * fit equally is left out: a person says.
 */
export function guessColumns(columns: readonly string[], rows: readonly (readonly string[])[]): Partial<Record<RowFieldKey, string>> {
  const guess: Partial<Record<RowFieldKey, string>> = {};
  for (const { key, names, looksRight } of rowFieldList) {
    const named = columns.filter((column) => names.test(folded(column)));
    const fitting = named.length === 1 ? named : byContent(looksRight, named.length > 0 ? named : columns, columns, rows);
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1 && !Object.values(guess).includes(only)) guess[key] = only;
  }
  return guess;
}

function byContent(
  looksRight: ((cell: string) => boolean) | undefined,
  among: readonly string[],
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (looksRight === undefined) return [];
  return among.filter((column) => {
    const cells = rows.map((row) => row[columns.indexOf(column)]?.trim() ?? '').filter((cell) => cell !== '');
    return column !== '' && cells.length > 0 && cells.filter(looksRight).length * 2 > cells.length;
  });
}

function folded(column: string): string {
  return column
    .trim()
    .toLowerCase()
    .replaceAll(/[\s.-]+/g, '_')
    .replaceAll(/_+$/g, '');
}
