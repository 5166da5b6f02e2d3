import type { ConversationFacts } from '../conversation-facts.ts';
import { groupBy } from '../collections.ts';
import { isCutOwnLine, isNearLine, namesSomebodyElse, shapeOf, sharesFewWords, wordingOf, type Wording } from './line-words.ts';

/** An attempt that was, or may have been, sent to the service. */
export interface CorrelationAttempt {
  attemptId: string;
  agentId: string;
  e164: string;
  /** Instant before the (first) POST, on the service's clock. */
  postedAt: number;
  /** Between these instants, on the service's clock, a record may have started that is possible at all. */
  possibleFrom: number;
  possibleUntil: number;
  /** `postedAt` of the next attempt to the same recipient or number, or null. */
  supersededAt: number | null;
  /** The service's id of the batch; null when its reply was lost. */
  serviceBatchId: string | null;
  /** Only a record that echoes its reference, or the service's id of its batch, can be its own. */
  namedOnly?: boolean;
  /** The service reports its call under the reference. */
  reported?: boolean;
  /** What was sent to be echoed back in the record, or null. */
  reference: string | null;
  /** The rendered `first_message`; null when the agent's own line was used. */
  openingLine: string | null;
  /** What it was rendered from. */
  template: string | null;
  /** Whether it still awaits its result. Late records of settled attempts are matched as well. */
  open: boolean;
  /** Set when its conversation is known; no other can be its own then. */
  conversationId: string | null;
  /** When that began. */
  rangAt: number | null;
}

/** How the service's clock differs from this machine's; times of records are corrected by it. */
export interface CorrelationClock {
  /** Service Date minus worker clock. */
  offsetMs: number;
  uncertaintyMs: number;
}

/** What all readings of one record say about whose it is. */
export interface Clue {
  conversationId: string;
  agentId: string | null;
  calleeNumber: string | null;
  batchId: string | null;
  line: string | null;
  /** On the worker's clock. */
  startedAt: number | null;
  /** The attempts whose reference is echoed; more than one contradict each other. */
  named: readonly CorrelationAttempt[];
}

/** The attempts by each fact that a record may show (null: those without it); every list is in the order of the POSTs. */
export interface AttemptIndex {
  toleranceMs: number;
  byReference: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  byBatch: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  byNumber: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  byLine: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  /** The lines of all attempts in near form, sorted, each once. */
  nearLines: readonly string[];
  all: readonly CorrelationAttempt[];
}

/** Times of the service are given to the second, and clocks drift. */
export const clockToleranceMs = 2_000;

/** One look-up per record and kind of evidence, instead of a comparison with every attempt. */
export function indexAttempts(attempts: readonly CorrelationAttempt[], clock: CorrelationClock): AttemptIndex {
  const byPost = attempts.toSorted((a, b) => a.postedAt - b.postedAt || (a.attemptId < b.attemptId ? -1 : 1));
  return {
    toleranceMs: clockToleranceMs + clock.uncertaintyMs,
    byReference: groupBy(byPost, (attempt) => attempt.reference || null),
    byBatch: groupBy(byPost, (attempt) => attempt.serviceBatchId || null),
    byNumber: groupBy(byPost, (attempt) => attempt.e164),
    byLine: groupBy(byPost, (attempt) => comparableLine(attempt.openingLine)),
    nearLines: [...new Set(byPost.flatMap(({ openingLine }) => wordingOf(openingLine)?.near ?? []))].sort(),
    all: byPost,
  };
}

/** One clue per conversation that may be ours; readings of one record that contradict each other give none. */
export function readClues(records: readonly ConversationFacts[], index: AttemptIndex, clock: CorrelationClock): readonly Clue[] {
  const clues = new Map<string, Clue | null>();
  for (const record of records) {
    const clue = record.direction === 'inbound' ? null : readClue(record, index, clock);
    const known = clues.get(record.conversationId);
    clues.set(record.conversationId, known === undefined ? clue : mergeClues(known, clue));
  }
  return [...clues.values()].filter((clue) => clue !== null);
}

/** Whether nothing in the record contradicts that it is the attempt's. */
export function fitsAttempt(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  if (!agreesInFacts(attempt, clue, index)) return false;
  // What names the attempt needs no clock, and a clock that was set back between POST and sweep must not disown it.
  return isNamed(attempt, clue) || clue.startedAt === null || clue.startedAt >= attempt.postedAt - index.toleranceMs;
}

/** Whether the record echoes the attempt's reference, or the service's id of its batch. */
export function isNamed(attempt: CorrelationAttempt, clue: Clue): boolean {
  return clue.named.includes(attempt) || (clue.batchId !== null && clue.batchId === attempt.serviceBatchId);
}

function agreesInFacts(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  if (clue.agentId !== null && clue.agentId !== attempt.agentId) return false;
  if (clue.calleeNumber !== null && clue.calleeNumber !== attempt.e164) return false;
  if (clue.named.some((named) => named !== attempt)) return false;
  if (attempt.namedOnly === true && !isNamed(attempt, clue)) return false;
  if (clue.batchId === null || clue.batchId === attempt.serviceBatchId) return true;
  // The batch of an attempt whose reply was lost has an id that is not known, but not that of another batch of ours.
  return attempt.serviceBatchId === null && !index.byBatch.has(clue.batchId);
}

/** As `fitsAttempt`, and started in the attempt's own time: after its POST, and before the next one unless the batch id says so. */
export function fitsWindow(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  if (clue.startedAt === null || clue.startedAt > attempt.possibleUntil) return false;
  if (!fitsAttempt(attempt, clue, index)) return false;
  if (attempt.supersededAt === null || clue.startedAt < attempt.supersededAt + index.toleranceMs) return true;
  return clue.batchId !== null && clue.batchId === attempt.serviceBatchId;
}

/** Whether the record is possible for the attempt by everything but its words: nothing contradicts, as far as clocks can be trusted. */
export function isPossible(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  const { startedAt } = clue;
  if (startedAt !== null && (startedAt < attempt.possibleFrom || startedAt > attempt.possibleUntil)) return false;
  return agreesInFacts(attempt, clue, index);
}

/**
 * What the words of a record say against its being the attempt's. `other_words`: they are other words, which says something only while the
 * agent is known to speak the attempt's.
 */
export function wordsAgainst(attempt: CorrelationAttempt, line: string | null): 'somebody_else' | 'other_words' | null {
  const [shown, own] = [wordingOf(line), wordingOf(attempt.openingLine)];
  if (shown === null || own === null || isNearLine(shown, own)) return null;
  const shape = attempt.template === null ? null : shapeOf(attempt.template);
  const named = shape === null ? null : namesSomebodyElse(shape, shown, own);
  if (named === 'surely') return 'somebody_else';
  return named === 'perhaps' || sharesFewWords(shown, own) ? 'other_words' : null;
}

/** Whether the words of a record are those of the attempt, as far as they were spoken, and reach into what is its own. */
export function isSpokenBy(attempt: Pick<CorrelationAttempt, 'openingLine' | 'template'>, shown: Wording): boolean {
  const own = wordingOf(attempt.openingLine);
  if (own === null) return false;
  return own.near === shown.near || (attempt.template !== null && isCutOwnLine(shapeOf(attempt.template), shown, own));
}

/** An opening line in Unicode NFC with single spaces; null when nothing is left to compare. */
export function comparableLine(line: string | null): string | null {
  if (line === null) return null;
  // Most lines are plain already, and there may be thousands.
  const plain = /^(?:[!-~]+ )*[!-~]+$/.test(line) ? line : line.normalize('NFC').replace(/\s+/g, ' ').trim();
  return plain === '' ? null : plain;
}

function readClue(record: ConversationFacts, index: AttemptIndex, clock: CorrelationClock): Clue {
  const { conversationId, agentId, calleeNumber, batchId, openingLine, startedAt } = record;
  const line = comparableLine(openingLine);
  const named = attemptsNamed(record.references, index);
  const shown = { conversationId, agentId, line, startedAt: startedAt === null ? null : startedAt - clock.offsetMs };
  // What the report alone says of a record is no clue where the record's words name somebody else.
  const isDenied = record.reported === 'alone' && named.some((attempt) => wordsAgainst(attempt, line) === 'somebody_else');
  return isDenied ? { ...shown, calleeNumber: null, batchId: null, named: none } : { ...shown, calleeNumber, batchId, named };
}

const none: readonly CorrelationAttempt[] = [];

function attemptsNamed(references: readonly string[], index: AttemptIndex): readonly CorrelationAttempt[] {
  let named = none;
  for (const reference of references) {
    const attempts = index.byReference.get(reference);
    if (attempts !== undefined) named = named === none ? attempts : [...new Set([...named, ...attempts])];
  }
  return named;
}

function mergeClues(left: Clue | null, right: Clue | null): Clue | null {
  if (left === null || right === null) return null;
  const merged: Clue = {
    conversationId: left.conversationId,
    agentId: left.agentId ?? right.agentId,
    calleeNumber: left.calleeNumber ?? right.calleeNumber,
    batchId: left.batchId ?? right.batchId,
    line: left.line ?? right.line,
    startedAt: left.startedAt ?? right.startedAt,
    named: [...new Set([...left.named, ...right.named])],
  };
  const agrees = (['agentId', 'calleeNumber', 'batchId', 'line', 'startedAt'] as const).every(
    (fact) => right[fact] === null || right[fact] === merged[fact],
  );
  return agrees ? merged : null;
}
