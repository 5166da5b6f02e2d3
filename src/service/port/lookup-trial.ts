/** Where a trial call would come from and go to, and when it is asked for. */
export interface TrialCall {
  mark: string;
  agentId: string;
  callerId: string;
  /** E.164. */
  to: string;
  /** Service time, in epoch milliseconds. */
  now: number;
}

/** How a list stands: `unclear` where it holds too little to show it. */
export type ListOrder = 'newest_first' | 'other' | 'unclear';

/**
 * A call for 30 days ahead, by which `carillon doctor --prove-lookup` sees whether a request can be looked up; it is taken back and never
 * made. All throw ServiceError.
 */
export interface LookUpTrial {
  /** Asks for the call. `isAhead`: the service has kept its time. */
  schedule(): Promise<{ id: string; isAhead: boolean }>;
  /** The id under which the list shows it; null: it does not. */
  listed(): Promise<string | null>;
  order(): Promise<ListOrder>;
  /** Sends the request again under its key, and then another; null: requests have no key. `made`: what came of it beside `id`. */
  repeat(id: string): Promise<{ key: 'first_answer' | 'conflict' | 'none'; made: readonly string[] } | null>;
  /** Takes it back, and removes what can be removed. Answers what is left of it, in words; null: nothing. */
  takeBack(id: string): Promise<string | null>;
  /** The path whose POST takes it back. */
  takeBackPath(id: string): string;
}

/** The order in which instants stand; null: one is missing. */
export function orderOf(times: readonly (number | null)[]): ListOrder {
  const known = times.filter((time) => time !== null);
  if (known.length < times.length) return 'other';
  const steps = known.slice(1).map((time, index) => time - (known[index] ?? time));
  if (steps.some((step) => step > 0)) return 'other';
  return steps.some((step) => step < 0) ? 'newest_first' : 'unclear';
}
