/** A cell or a name as a hint may show it: in quotes, on one line, and short. */
export function quoteCell(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}
