import { isRoundedNumber } from '../input/spreadsheet-damage.ts';

export type ZipReading = { ok: true; zip: string } | { ok: false; hint: string };

const asText = 'format the column as text and export again';

/**
 * The five digits of a ZIP code cell: `94110`, `94110-1234`, `941101234`. A code that has lost zeros is named and not repaired, since a
 * digit may as well be missing elsewhere, and would then name another place.
 */
export function readZip(cell: string): ZipReading {
  const text = cell
    .trim()
    .replace(/^'/, '')
    .replaceAll(/\p{Pd}/gu, '-');
  const zip = /^(\d{5})(?:[- ]?\d{4})?$/.exec(text)?.[1];
  return zip === undefined ? { ok: false, hint: explain(text) } : { ok: true, zip };
}

function explain(text: string): string {
  const shown = JSON.stringify(text.length > 20 ? `${text.slice(0, 19)}…` : text);
  if (/^(?:\d{3,4}(?:-\d{4})?|\d{7,8})$/.test(text)) {
    return `${shown} has too few digits; a spreadsheet has probably dropped zeros at its beginning: ${asText}, so that it reads as 02134 does`;
  }
  if (/^\d+[.,]\d+$/.test(text) || isRoundedNumber(text))
    return `${shown} is no ZIP code; a spreadsheet has made it a number: ${asText}`;
  return `${shown} is no ZIP code; write its five digits, such as 94110, or leave the cell empty`;
}
