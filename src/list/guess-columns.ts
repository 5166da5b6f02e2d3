import { readPhoneNumber } from '../domain/phone-number.ts';
import { timeZone } from '../domain/time-zone.ts';

/** What a column of a list may be for. */
export type ColumnUse = 'phone' | 'id' | 'timezone' | 'country' | 'state' | 'zip' | 'not_before' | 'expires_at';

const names: Readonly<Record<ColumnUse, RegExp>> = {
  phone:
    /^(?:(?:e_?164|phone|mobile|cell|telephone|telefon|tel|mobil|handy|rufnummer|number)(?:_?(?:no|nr|number|phone|nummer|e_?164))?|.*_(?:phone|mobile|phone_number))$/,
  id: /^(?:id|.*_id|customer_?(?:no|nr|number)|kundennummer|reference|ref)$/,
  timezone: /^(?:time_?zone|tz|zeitzone)$/,
  country: /^(?:country(?:_?code)?|land|iso_?country)$/,
  state: /^(?:state|province|bundesland|region)$/,
  zip: /^(?:zip(?:_?code)?|postal_?code|postcode|plz)$/,
  not_before: /^(?:not_?before|call_?(?:after|from))$/,
  expires_at: /^(?:expires?(?:_?at|_?on)?|valid_?until|call_?(?:before|until))$/,
};

const uses = Object.keys(names) as ColumnUse[];

/**
 * Guesses which column is for what, by names, and for phone numbers and time zones by what stands in them. A use that no column or several
 * fit equally is left out: a person says.
 */
export function guessColumns(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): Partial<Record<ColumnUse, string>> {
  const guess: Partial<Record<ColumnUse, string>> = {};
  for (const use of uses) {
    const named = columns.filter((column) => names[use].test(folded(column)));
    const fitting = named.length === 1 ? named : byContent(use, named.length > 0 ? named : columns, columns, rows);
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1 && !Object.values(guess).includes(only)) guess[use] = only;
  }
  return guess;
}

function byContent(
  use: ColumnUse,
  among: readonly string[],
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const fits = use === 'phone' ? isNumber : use === 'timezone' ? isZone : null;
  if (fits === null) return [];
  return among.filter((column) => {
    const cells = rows.map((row) => row[columns.indexOf(column)]?.trim() ?? '').filter((cell) => cell !== '');
    return column !== '' && cells.length > 0 && cells.filter(fits).length * 2 > cells.length;
  });
}

function isNumber(cell: string): boolean {
  return readPhoneNumber(cell, null).ok || /^\(?0?\d{2,5}\)?[\s./-]\d[\d\s./-]{4,12}$/.test(cell);
}

function isZone(cell: string): boolean {
  return /^[A-Za-z]+\/[A-Za-z]/.test(cell) && timeZone(cell).isValid;
}

function folded(column: string): string {
  return column
    .trim()
    .toLowerCase()
    .replaceAll(/[\s.-]+/g, '_')
    .replaceAll(/_+$/g, '');
}
