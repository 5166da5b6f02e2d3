/**
 * What a row of its own says beside where it leads, each read from one column of the list; missing or null: nothing. A further one is added
 * here, and gets its column in `src/list/row-fields.ts`.
 */
export interface OwnTerms {
  /** Not dialled before the one, nor from the other on; epoch milliseconds. */
  notBefore?: number | null;
  expiresAt?: number | null;
  /** Place of the first call, 1 (first) to 100. */
  priority?: number | null;
  /** Hours of its own, in which alone it is dialled, as `readOwnHours` has them; those of campaign and law hold as well. */
  hours?: string | null;
  /** Who it is, over all lists, where that is not the row's own id (`personOf`). */
  personKey?: string | null;
  /** When the person agreed to be called; the columns of it stand under `consent` of the campaign file. */
  consentedAt?: number | null;
}

/** The priority of a row that says none: others can be put before it, and behind it. */
export const usualPriority = 50;

/**
 * What a row of a list says of whom its calls lead to, where and when: read from the list, stored with the recipient, hashed into the log
 * and told by it of every call.
 */
export interface RowTerms extends OwnTerms {
  /** The user's own id, trimmed; null when the campaign names no id column or the cell is empty. */
  externalId: string | null;
  /** Null where the row has no usable number; it was rejected then. */
  e164: string | null;
  /** All time zones in which the recipient may live; empty when unknown, and then not dialled while hours apply. */
  zones: readonly string[];
  /** Country of the number, and the states or provinces that are possible; null: nothing is known. */
  country: string | null;
  regions: readonly string[] | null;
}

/** Whom caps by person count, over all lists: the person's key where the list has one, else the row's own id; null: nobody knows. */
export function personOf({ personKey, externalId }: Pick<RowTerms, 'personKey' | 'externalId'>): string | null {
  return personKey ?? externalId;
}

/** The terms under the names that the log has for them. */
export type LoggedTerms = Omit<RowTerms, 'externalId'> & { e164: string; person: string | null };

/** The columns of the list from which they are read; missing in rules that are older than the term, or null: the list has none. */
export type OwnColumns = { [Term in Exclude<keyof OwnTerms, 'consentedAt'> as `${Term}Column`]?: string | null };

/** How lists are read that are neither UTF-8 nor UTF-16: null, none was named; absent, as Windows-1252, before encodings were named. */
export type ListEncoding = { encoding?: string | null };

/** The names of what a row may say of its own. */
export const ownTerms = Object.keys({
  notBefore: true,
  expiresAt: true,
  priority: true,
  hours: true,
  personKey: true,
  consentedAt: true,
} satisfies Record<keyof OwnTerms, true>) as (keyof OwnTerms)[];

/** What holds for rows that are added to a campaign that waits for them. */
export interface StaysOpen {
  /** How long after it was added a row may be dialled that says no end of its own; null: as long as the campaign runs. */
  expiresAfterMs: number | null;
  /** Whether they are called before other first calls, the newest first. */
  newestFirst: boolean;
}

/**
 * Telephone numbers that are called although the data of the numbering library does not have them; a campaign
 * that was begun before there was a choice has none.
 */
export interface Numbering {
  /** Whether numbers of a possible form whose range no data has are called. */
  call: boolean;
  /** Ranges in service when the campaign began, by their first digits. */
  ranges: readonly { prefix: string; country: string; zones: readonly string[] }[];
}
