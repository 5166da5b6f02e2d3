const errorValue = /^#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NULL!|NUM!|SPILL!|CALC!|GETTING_DATA|#+)$/i;

/** Why a cell that a template uses must not be spoken, when it holds what a spreadsheet shows instead of a value; else null. */
export function describeSpreadsheetError(cell: string): string | null {
  if (!cell.startsWith('#') || !errorValue.test(cell)) return null;
  return `${JSON.stringify(cell.slice(0, 20))} is an error or a filler of a spreadsheet; repair the formula or widen the column, and export again`;
}

/** Whether a number has lost digits to scientific notation, as `1.23457E+17`. */
export function isRoundedNumber(cell: string): boolean {
  return /^[+-]?\d(?:[.,]\d+)?E\+\d{2,3}$/i.test(cell);
}
