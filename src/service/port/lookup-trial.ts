/** Agent, caller number, recipient and time of a trial call. */
export interface TrialCall {
  mark: string;
  agentId: string;
  callerId: string;
  /** E.164. */
  to: string;
  /** Service time, epoch ms. */
  now: number;
}

/** Order of a list; `unclear`: too few entries to show it. */
export type ListOrder = 'newest_first' | 'other' | 'unclear';

/**
 * For `carillon doctor --prove-lookup`: tests whether requests can be looked up, by a call scheduled 30 days ahead and withdrawn. Every
 * method throws ServiceError.
 */
export interface LookUpTrial {
  /** Schedules the call. `isAhead`: the service kept its time. */
  schedule(): Promise<{ id: string; isAhead: boolean }>;
  /** Its id in the list; null: not listed. */
  listed(): Promise<string | null>;
  order(): Promise<ListOrder>;
  /** Sends the request again under its key, then a different one; null: requests have no key. `made`: ids created besides `id`. */
  repeat(id: string): Promise<{ key: 'first_answer' | 'conflict' | 'none'; made: readonly string[] } | null>;
  /** Withdraws it and deletes what can be deleted. Returns a description of what is left, or null. */
  takeBack(id: string): Promise<string | null>;
  /** The path whose POST withdraws it. */
  takeBackPath(id: string): string;
}

/** The order of a list by its times; null: a missing time. */
export function orderOf(times: readonly (number | null)[]): ListOrder {
  const known = times.filter((time) => time !== null);
  if (known.length < times.length) return 'other';
  const steps = known.slice(1).map((time, index) => time - (known[index] ?? time));
  if (steps.some((step) => step > 0)) return 'other';
  return steps.some((step) => step < 0) ? 'newest_first' : 'unclear';
}
