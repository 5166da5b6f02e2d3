import { ownTerms, personOf, usualPriority, type OwnTerms, type RowTerms } from '../../rules/row-terms.ts';
import { sql, type RawBuilder } from 'kysely';
import type { RecipientPlace } from '../../rules/hours/legal-hours.ts';
import type { RecipientRow } from '../schema.ts';
import { isPostgres, type Queries } from '../tx.ts';

/** Terms without a column of their own share one; columns exist where statements need them. */
const laterTerms = ownTerms.filter((term) => term !== 'notBefore' && term !== 'expiresAt');

/**
 * Order of due rows: lower rank, then longest due, then file order. Called before: 0, so that no first call delays a retry; first calls:
 * their priority, 1 to 100. Written by import, correction and the first placed call.
 */
export function rankOf(called: 0 | 1, { priority }: OwnTerms = {}): number {
  return called === 1 ? 0 : (priority ?? usualPriority);
}

/** Before all others, or callbacks would queue behind the morning's retries. */
export const callbackRank = -1;

export function placeOf({ country, regions }: Pick<RecipientRow, 'country' | 'regions'>): RecipientPlace {
  return { country, regions: regions === null ? null : (JSON.parse(regions) as string[]) };
}

export function termColumnsOf(terms: RowTerms) {
  return {
    external_id: terms.externalId,
    e164: terms.e164,
    zones: JSON.stringify(terms.zones),
    country: terms.country,
    regions: terms.regions === null ? null : JSON.stringify(terms.regions),
    not_before: terms.notBefore ?? null,
    expires_at: terms.expiresAt ?? null,
    terms: laterTermsText(terms),
  };
}

export function termsOf(row: Pick<RecipientRow, keyof ReturnType<typeof termColumnsOf>>): RowTerms {
  return {
    externalId: row.external_id,
    e164: row.e164,
    zones: JSON.parse(row.zones) as string[],
    country: row.country,
    regions: row.regions === null ? null : (JSON.parse(row.regions) as string[]),
    notBefore: row.not_before,
    expiresAt: row.expires_at,
    ...laterTermsOf(row),
  };
}

export function laterTermsOf({ terms }: Pick<RecipientRow, 'terms'>): OwnTerms {
  return terms === null ? {} : (JSON.parse(terms) as OwnTerms);
}

/** Key for per-person caps. */
export function personIn(row: Pick<RecipientRow, 'terms' | 'external_id'>): string | null {
  return personOf({ ...laterTermsOf(row), externalId: row.external_id });
}

/** SQL for one of them on `recipients`, as text. */
export function sqlLaterTerm(db: Queries, term: keyof OwnTerms): RawBuilder<string | null> {
  return sql.raw(isPostgres(db) ? `(recipients.terms::json ->> '${term}')` : `json_extract(recipients.terms, '$.${term}')`);
}

/** JSON in a fixed order, so that equal terms are equal texts; null: no terms. */
function laterTermsText(terms: OwnTerms): string | null {
  const entries = laterTerms.filter((term) => terms[term] != null).map((term) => [term, terms[term]]);
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries));
}
