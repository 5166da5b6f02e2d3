/**
 * A row's own terms besides its number, each from one column of the list; missing or null: none. Add a new one here and its column in
 * `src/list/row-fields.ts`.
 */
export interface OwnTerms {
  /** Not dialled before `notBefore`, nor from `expiresAt` on; epoch ms. */
  notBefore?: number | null;
  expiresAt?: number | null;
  /** Place of the first call, 1 (first) to 100. */
  priority?: number | null;
  /** Its own hours, as `readOwnHours` returns them; those of campaign and law also apply. */
  hours?: string | null;
  /** The person's id over all lists, if not the row's own id (`personOf`). */
  personKey?: string | null;
  /** When the recipient consented; its columns are under `consent` of the campaign file. */
  consentedAt?: number | null;
}

/** Priority of a row without one, so that others can go before and after it. */
export const usualPriority = 50;

/**
 * A row's number, person, place and times: read from the list, stored with the recipient, hashed into the log and logged with every call.
 */
export interface RowTerms extends OwnTerms {
  /** The user's own id, trimmed; null: no id column, or an empty cell. */
  externalId: string | null;
  /** Null: no usable number; the row was rejected. */
  e164: string | null;
  /** All possible zones of the recipient; empty: unknown, not dialled while hours apply. */
  zones: readonly string[];
  /** Country of the number, and possible states or provinces; null: unknown. */
  country: string | null;
  regions: readonly string[] | null;
}

/** Person that caps count by, over all lists: the list's key, else the row's own id; null: unknown. */
export function personOf({ personKey, externalId }: Pick<RowTerms, 'personKey' | 'externalId'>): string | null {
  return personKey ?? externalId;
}

/** The terms under their names in the log. */
export type LoggedTerms = Omit<RowTerms, 'externalId'> & { e164: string; person: string | null };

/** List columns of the terms; null: none; missing in rules older than the term. */
export type OwnColumns = { [Term in Exclude<keyof OwnTerms, 'consentedAt'> as `${Term}Column`]?: string | null };

/** Encoding of lists that are neither UTF-8 nor UTF-16. Null: none named; absent: Windows-1252, from before encodings were named. */
export type ListEncoding = { encoding?: string | null };

/** Names of a row's own terms. */
export const ownTerms = Object.keys({
  notBefore: true,
  expiresAt: true,
  priority: true,
  hours: true,
  personKey: true,
  consentedAt: true,
} satisfies Record<keyof OwnTerms, true>) as (keyof OwnTerms)[];

/** Rules for rows added to a campaign that waits for them. */
export interface StaysOpen {
  /** How long after its addition a row without its own end may be dialled; null: as long as the campaign runs. */
  expiresAfterMs: number | null;
  /** Whether they are called before other first calls, the newest first. */
  newestFirst: boolean;
}

/** Numbers called although the numbering library does not have them; absent in campaigns begun before this choice. */
export interface Numbering {
  /** Whether to call numbers of a possible form in unknown ranges. */
  call: boolean;
  /** Ranges in service when the campaign began, by their first digits. */
  ranges: readonly { prefix: string; country: string; zones: readonly string[] }[];
}
