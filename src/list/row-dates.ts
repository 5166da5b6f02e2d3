import type { CampaignRules } from '../domain/campaign-rules.ts';
import { instantForms, readInstant, type InstantKind } from './instant-cell.ts';
import { quoteCell } from '../input/quote-cell.ts';
import type { CellOf } from './row-place.ts';

export type DatesReading =
  { ok: true; notBefore: number | null; expiresAt: number | null } | { ok: false; column: string | null; hint: string };

/** Reads the two columns that bound the time in which a row may be dialled. */
export function readDates(list: CampaignRules['list'], cell: CellOf, zones: readonly string[]): DatesReading {
  const { notBeforeColumn, expiresAtColumn } = list;
  const notBefore = readCell(cell(notBeforeColumn), 'start', zones);
  if (notBefore === undefined) return refuse(notBeforeColumn, cell(notBeforeColumn));
  const expiresAt = readCell(cell(expiresAtColumn), 'end', zones);
  if (expiresAt === undefined) return refuse(expiresAtColumn, cell(expiresAtColumn));
  if (notBefore !== null && expiresAt !== null && expiresAt <= notBefore) {
    const hint = `the row expires before it may be dialled; write a time after that in ${quoteCell(notBeforeColumn ?? '')}`;
    return { ok: false, column: expiresAtColumn, hint };
  }
  return { ok: true, notBefore, expiresAt };
}

/** Null for an empty cell, undefined for one that cannot be read. */
function readCell(text: string, kind: InstantKind, zones: readonly string[]): number | null | undefined {
  return text === '' ? null : (readInstant(text, kind, zones) ?? undefined);
}

function refuse(column: string | null, text: string): DatesReading {
  return {
    ok: false,
    column,
    hint: `${quoteCell(text)} is no date and time; ${instantForms}, or leave the cell empty`,
  };
}
