/** Header names and cells of one row as a record; a missing cell reads as the empty string. */
export function recipientFields(columns: readonly string[], cells: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  columns.forEach((column, index) => {
    fields[column] = cells[index] ?? '';
  });
  return fields;
}
