import type { ConversationFacts } from './conversation-facts.ts';

/** A collected value or an evaluation, and what it may equal. */
export interface ValueRule {
  source: 'collected' | 'evaluation';
  key: string;
  values: readonly (string | number | boolean)[];
}

/** Names the result of a talk. All of its conditions must match. */
export interface ResultRule {
  result: string;
  /** Null: no value is required. */
  value: ValueRule | null;
  /** The talk was shorter; null: any length. */
  talkUnderMs: number | null;
  /** The result is the campaign's goal. */
  goal: boolean;
  /** Absent: such a talk ends its row. */
  next?: AfterTalk;
}

/** What follows a talk that does not end its row: another call, this long after the record, or at the recipient's callback time. */
export type AfterTalk = { kind: 'retry'; afterMs: number } | { kind: 'callback' };

/** What asks for another call after a talk: the record, by a rule of the campaign, or an operator's callback. */
export type NextCallSource = AfterTalk['kind'] | 'person';

/** How values are read from the facts of a record. */
export interface ValueReading {
  /** True: values as the facts hold them, with one wrapping removed. Absent (older campaigns): a second one is removed, too. */
  unwrapOnce?: true;
}

/** Analysis of a talk in a record. */
export type Analysis = Pick<ConversationFacts, 'collected' | 'evaluation' | 'analysed'>;

/** Result of a talk, and what follows; null: its row ends. */
export interface TalkResult {
  result: string;
  next: AfterTalk | null;
}

/**
 * Whether a call ends its row for good. After an answer only `asks`, from the record read to its end or an operator's callback, allows
 * another; an opt-out outranks it.
 */
export function endsRow({ disposition, asks }: { disposition: string | null; asks: string | null }): boolean {
  return disposition === 'opted_out' || (disposition === 'answered' && asks === null);
}

/** Whether a talk may lead to another call, so that its row has no outcome before its record is read to its end. */
export function mayAskForCalls(rules: readonly ResultRule[] | undefined): boolean {
  return rules?.some(({ next }) => next !== undefined) ?? false;
}

/** Results of a talk without a matching rule, and of one whose analysis never came. No rule may use these names. */
export const resultsBesides = { unruled: 'other', untold: 'none' } as const;

/**
 * Whether a record has one of the values, as text without case and surrounding blanks: `true` equals `"True"`; missing values, lists and
 * objects equal nothing. Without a `reading`, removes a second wrapping, as opt-outs need.
 */
export function matchesValue(facts: Analysis, { source, key, values }: ValueRule, reading: ValueReading = {}): boolean {
  const text = comparable(plainValueNamed(facts[source], key, reading));
  return text !== null && values.some((value) => comparable(value) === text);
}

/** Result of a talk by the first matching rule; without one, nothing follows. `lastedMs`: length of the call, 0 if not in the record. */
export function resultOfTalk(facts: Analysis, lastedMs: number, rules: readonly ResultRule[], reading: ValueReading = {}): TalkResult {
  const found = rules.find(
    ({ value, talkUnderMs }) =>
      (value === null || matchesValue(facts, value, reading)) && (talkUnderMs === null || (lastedMs > 0 && lastedMs < talkUnderMs)),
  );
  if (found !== undefined) return { result: found.result, next: found.next ?? null };
  const isAnalysed = (facts.collected !== null || facts.evaluation !== null) && !(reading.unwrapOnce && facts.analysed === false);
  const isTold = isAnalysed || rules.every(({ value }) => value === null);
  return { result: isTold ? resultsBesides.unruled : resultsBesides.untold, next: null };
}

/** A counted share with its 95 % confidence interval (Wilson 1927). */
export interface CountedShare {
  count: number;
  of: number;
  /** 0 to 1, as are the others; null: nothing was counted. */
  share: number | null;
  low: number | null;
  high: number | null;
}

/** Quantile of the standard normal distribution, 95 % two-sided. */
const z = 1.959964;

/** `of`: the total count; 0: no share. */
export function countedShare(count: number, of: number): CountedShare {
  if (of === 0) return { count, of, share: null, low: null, high: null };
  const share = count / of;
  const middle = share + (z * z) / (2 * of);
  const half = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const whole = 1 + (z * z) / of;
  return { count, of, share, low: Math.max(0, (middle - half) / whole), high: Math.min(1, (middle + half) / whole) };
}

/** Results that are the campaign's goal. */
export function goalsOf(rules: readonly ResultRule[] | undefined): ReadonlySet<string> {
  return new Set((rules ?? []).flatMap(({ result, goal }) => (goal ? [result] : [])));
}

/** Share of goal results in all results (or in `of`); null: no goal rule. */
export function goalShare(
  rules: readonly ResultRule[] | undefined,
  counts: Readonly<Record<string, number>>,
  of?: number,
): CountedShare | null {
  const goals = goalsOf(rules);
  if (goals.size === 0) return null;
  const sum = (names: readonly string[]): number => names.reduce((all, name) => all + (counts[name] ?? 0), 0);
  return countedShare(sum([...goals]), of ?? sum(Object.keys(counts)));
}

/** Value under a key, plain or not; null: none. */
export function plainValueNamed(results: Record<string, unknown> | null, key: string, { unwrapOnce }: ValueReading): unknown {
  if (results === null || !Object.hasOwn(results, key)) return null;
  const entry = results[key];
  // Its wrapping was removed when the record was read.
  if (unwrapOnce) return entry;
  if (typeof entry !== 'object' || entry === null) return entry;
  // Comparable services wrap the result: `{ value, rationale }` when collected, `{ result, rationale }` when evaluated.
  if ('value' in entry) return entry.value;
  return 'result' in entry ? entry.result : null;
}

/** A plain value as text to compare; null: not plain. */
export function comparable(value: unknown): string | null {
  if (typeof value === 'string') return value.trim().toLowerCase();
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : null;
}
