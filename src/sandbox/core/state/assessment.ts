export type CollectedValue = string | number | boolean | null;

export interface CollectedItem {
  value: CollectedValue;
  rationale: string;
}

type Verdict = 'success' | 'failure' | 'unknown';

export interface Evaluated {
  result: Verdict;
  rationale: string;
  /** From 0 to 1; null where it cannot be told. */
  score?: number | null;
}

/** What came of a conversation, by id of the item or criterion. */
export interface Assessment {
  collected: Record<string, CollectedItem>;
  evaluation: Record<string, Evaluated>;
}
