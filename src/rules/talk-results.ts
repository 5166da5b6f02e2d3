import type { ConversationFacts } from './conversation-facts.ts';

/** A value that a call is asked for: a collected one, or an evaluation, and what it may equal. */
export interface ValueRule {
  source: 'collected' | 'evaluation';
  key: string;
  values: readonly (string | number | boolean)[];
}

/** Names what a talk came to. Every condition that it has must hold. */
export interface ResultRule {
  result: string;
  /** Null: no value is asked for. */
  value: ValueRule | null;
  /** The talk was shorter; null: however long it was. */
  talkUnderMs: number | null;
  /** This is what the campaign is for. */
  goal: boolean;
  /** Absent: such a talk ends its row. */
  next?: AfterTalk;
}

/** What follows a talk that does not end its row: another call, so long after the record told, or when the person asks for it. */
export type AfterTalk = { kind: 'retry'; afterMs: number } | { kind: 'callback' };

/** Who asks for another call after a talk: the record, by a rule of the campaign, or a person who has them called back. */
export type Asks = AfterTalk['kind'] | 'person';

/** How values are read out of the facts of a record. */
export interface ValueReading {
  /** Values count as the facts hold them, which is out of one wrapping; absent, as of campaigns begun before: out of a second one, too. */
  unwrapOnce?: true;
}

/** What a record tells of the analysis of a talk. */
export type Analysis = Pick<ConversationFacts, 'collected' | 'evaluation' | 'analysed'>;

/** What a talk came to, and what follows; null: nothing, it ends its row. */
export interface TalkResult {
  result: string;
  next: AfterTalk | null;
}

/**
 * Whether a call ends its row for good. Nobody who answered is dialled again, unless their own record, read to its end, asks for it: only
 * such a record writes `asks`, and a wish not to be called again outranks it.
 */
export function endsRow({ disposition, asks }: { disposition: string | null; asks: string | null }): boolean {
  return disposition === 'opted_out' || (disposition === 'answered' && asks === null);
}

/** Whether a talk may be followed by another call, so that its row has no outcome before its record has been read to its end. */
export function mayAskForCalls(rules: readonly ResultRule[] | undefined): boolean {
  return rules?.some(({ next }) => next !== undefined) ?? false;
}

/** Of a talk that no rule describes, and of one whose analysis never came. No rule may be called so. */
export const resultsBesides = { unruled: 'other', untold: 'none' } as const;

/**
 * Whether a record says so. Comparison is by text without case and surrounding blanks, so `true` and `"True"` are equal, while `yes`
 * counts only where it is listed. What is not there, a list and an object equal nothing. Without a `reading` it looks one wrapping deeper,
 * as a wish not to be called again is heard.
 */
export function saysSo(facts: Analysis, { source, key, values }: ValueRule, reading: ValueReading = {}): boolean {
  const said = comparable(plainValueNamed(facts[source], key, reading));
  return said !== null && values.some((value) => comparable(value) === said);
}

/**
 * What a talk came to: the first rule that describes it. `lastedMs`: how long the call lasted, 0 where its record names no time. What no
 * rule describes asks for nothing.
 */
export function resultOfTalk(facts: Analysis, lastedMs: number, rules: readonly ResultRule[], reading: ValueReading = {}): TalkResult {
  const found = rules.find(
    ({ value, talkUnderMs }) =>
      (value === null || saysSo(facts, value, reading)) && (talkUnderMs === null || (lastedMs > 0 && lastedMs < talkUnderMs)),
  );
  if (found !== undefined) return { result: found.result, next: found.next ?? null };
  const isAnalysed = (facts.collected !== null || facts.evaluation !== null) && !(reading.unwrapOnce && facts.analysed === false);
  const isTold = isAnalysed || rules.every(({ value }) => value === null);
  return { result: isTold ? resultsBesides.unruled : resultsBesides.untold, next: null };
}

/** A share of something that was counted, with the interval in which its true value lies in 95 of 100 such counts (Wilson 1927). */
export interface CountedShare {
  count: number;
  of: number;
  /** 0 to 1, as are the others; null: there is nothing to take a share of. */
  share: number | null;
  low: number | null;
  high: number | null;
}

/** Of the standard normal distribution, for 95 of 100. */
const z = 1.959964;

/** `of`: everything that was counted; where it is 0, there is no share. */
export function countedShare(count: number, of: number): CountedShare {
  if (of === 0) return { count, of, share: null, low: null, high: null };
  const share = count / of;
  const middle = share + (z * z) / (2 * of);
  const half = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const whole = 1 + (z * z) / of;
  return { count, of, share, low: Math.max(0, (middle - half) / whole), high: Math.min(1, (middle + half) / whole) };
}

/** The results that are what the campaign is for. */
export function goalsOf(rules: readonly ResultRule[] | undefined): ReadonlySet<string> {
  return new Set((rules ?? []).flatMap(({ result, goal }) => (goal ? [result] : [])));
}

/** Of how many that came to something (by what) it was what the campaign is for; null: it has no such rule. */
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

/** The value that stands under a key; null: none does. May be no plain value. */
export function plainValueNamed(results: Record<string, unknown> | null, key: string, { unwrapOnce }: ValueReading): unknown {
  if (results === null || !Object.hasOwn(results, key)) return null;
  const entry = results[key];
  // Its wrapping was taken off when the record was read.
  if (unwrapOnce) return entry;
  if (typeof entry !== 'object' || entry === null) return entry;
  // Comparable services wrap the result: `{ value, rationale }` when collected, `{ result, rationale }` when evaluated.
  if ('value' in entry) return entry.value;
  return 'result' in entry ? entry.result : null;
}

/** A plain value as text to compare; null: it is none. */
export function comparable(value: unknown): string | null {
  if (typeof value === 'string') return value.trim().toLowerCase();
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : null;
}
