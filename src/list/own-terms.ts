import { ownFields } from '../campaign-file/row-fields.ts';
import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { RejectionReason } from '../domain/outcome.ts';
import type { OwnColumns, OwnTerms } from '../domain/row-terms.ts';
import type { CellOf } from './row-place.ts';

export type OwnReading =
  { ok: true; terms: OwnTerms } | { ok: false; reason: RejectionReason; column: string; hint: string };

/** Reads what a row says of its own; an empty cell says nothing. */
export function readOwnTerms(list: CampaignRules['list'], cell: CellOf, zones: readonly string[]): OwnReading {
  const terms: OwnTerms = {};
  for (const { term, rules, read, reason } of ownFields) {
    const column = list[rules as keyof OwnColumns] ?? null;
    const text = column === null ? '' : cell(column);
    if (column === null || text === '') continue;
    const reading = read(text, { list, zones, terms });
    if ('fault' in reading) return { ok: false, reason, column, hint: reading.fault };
    Object.assign(terms, { [term]: reading.value });
  }
  return { ok: true, terms };
}
