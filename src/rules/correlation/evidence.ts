import type { ConversationFacts } from '../conversation-facts.ts';
import { groupBy } from '../collections.ts';
import { isCutOwnLine, isNearLine, namesOtherRecipient, shapeOf, sharesFewWords, wordingOf, type Wording } from './line-words.ts';

/** An attempt that was, or may have been, sent to the service. */
export interface CorrelationAttempt {
  attemptId: string;
  agentId: string;
  e164: string;
  /** Instant before the (first) POST, on the service's clock. */
  postedAt: number;
  /** A possible record started between these instants (service's clock). */
  possibleFrom: number;
  possibleUntil: number;
  /** `postedAt` of the next attempt to the same recipient or number, or null. */
  supersededAt: number | null;
  /** The service's batch id; null: its reply was lost. */
  serviceBatchId: string | null;
  /** Only a record that echoes its reference or the service's batch id can match. */
  namedOnly?: boolean;
  /** The service reports its call under the reference. */
  reported?: boolean;
  /** Reference sent to be echoed in the record, or null. */
  reference: string | null;
  /** Rendered `first_message`; null: the agent's own line. */
  openingLine: string | null;
  template: string | null;
  /** Whether it still awaits its result. Late records of settled attempts match, too. */
  open: boolean;
  /** Its known conversation; no other can match. */
  conversationId: string | null;
  /** Start of that conversation. */
  rangAt: number | null;
}

/** Offset of the service's clock from this machine's, to correct record times. */
export interface CorrelationClock {
  /** Service Date minus worker clock. */
  offsetMs: number;
  uncertaintyMs: number;
}

/** What all readings of one record say about its attempt. */
export interface Clue {
  conversationId: string;
  agentId: string | null;
  calleeNumber: string | null;
  batchId: string | null;
  line: string | null;
  /** On the worker's clock. */
  startedAt: number | null;
  /** Attempts whose reference is echoed; several contradict each other. */
  named: readonly CorrelationAttempt[];
}

/** Attempts by each fact a record may show (null: without it); every list is in POST order. */
export interface AttemptIndex {
  toleranceMs: number;
  byReference: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  byBatch: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  byNumber: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  byLine: ReadonlyMap<string | null, readonly CorrelationAttempt[]>;
  /** Near forms of all lines, sorted, each once. */
  nearLines: readonly string[];
  all: readonly CorrelationAttempt[];
}

/** The service's times are to the second, and clocks drift. */
export const clockToleranceMs = 2_000;

/** Indexes attempts: one look-up per record and kind of evidence. */
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

/** One clue per conversation that may be ours; contradictory readings of one record give none. */
export function readClues(records: readonly ConversationFacts[], index: AttemptIndex, clock: CorrelationClock): readonly Clue[] {
  const clues = new Map<string, Clue | null>();
  for (const record of records) {
    const clue = record.direction === 'inbound' ? null : readClue(record, index, clock);
    const known = clues.get(record.conversationId);
    clues.set(record.conversationId, known === undefined ? clue : mergeClues(known, clue));
  }
  return [...clues.values()].filter((clue) => clue !== null);
}

/** Whether nothing in the record contradicts the attempt. */
export function fitsAttempt(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  if (!agreesInFacts(attempt, clue, index)) return false;
  // Naming evidence needs no clock, which may be set back between POST and sweep.
  return isNamed(attempt, clue) || clue.startedAt === null || clue.startedAt >= attempt.postedAt - index.toleranceMs;
}

/** Whether the record echoes the attempt's reference or the service's batch id. */
export function isNamed(attempt: CorrelationAttempt, clue: Clue): boolean {
  return clue.named.includes(attempt) || (clue.batchId !== null && clue.batchId === attempt.serviceBatchId);
}

function agreesInFacts(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  if (clue.agentId !== null && clue.agentId !== attempt.agentId) return false;
  if (clue.calleeNumber !== null && clue.calleeNumber !== attempt.e164) return false;
  if (clue.named.some((named) => named !== attempt)) return false;
  if (attempt.namedOnly === true && !isNamed(attempt, clue)) return false;
  if (clue.batchId === null || clue.batchId === attempt.serviceBatchId) return true;
  // After a lost reply the batch id is unknown, but it is not another batch of ours.
  return attempt.serviceBatchId === null && !index.byBatch.has(clue.batchId);
}

/** Like `fitsAttempt`, and started after its POST and before the next one, unless the batch id names it. */
export function fitsWindow(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  if (clue.startedAt === null || clue.startedAt > attempt.possibleUntil) return false;
  if (!fitsAttempt(attempt, clue, index)) return false;
  if (attempt.supersededAt === null || clue.startedAt < attempt.supersededAt + index.toleranceMs) return true;
  return clue.batchId !== null && clue.batchId === attempt.serviceBatchId;
}

/** Whether facts and clocks, as far as trusted, allow the record regardless of its words. */
export function isPossible(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  const { startedAt } = clue;
  if (startedAt !== null && (startedAt < attempt.possibleFrom || startedAt > attempt.possibleUntil)) return false;
  return agreesInFacts(attempt, clue, index);
}

/** How a record's words speak against the attempt. `other_words` counts only while the agent is known to speak the attempt's. */
export function wordsAgainst(attempt: CorrelationAttempt, line: string | null): 'somebody_else' | 'other_words' | null {
  const [shown, own] = [wordingOf(line), wordingOf(attempt.openingLine)];
  if (shown === null || own === null || isNearLine(shown, own)) return null;
  const shape = attempt.template === null ? null : shapeOf(attempt.template);
  const named = shape === null ? null : namesOtherRecipient(shape, shown, own);
  if (named === 'surely') return 'somebody_else';
  return named === 'perhaps' || sharesFewWords(shown, own) ? 'other_words' : null;
}

/** Whether the record's words are the attempt's, as far as spoken, and reach into its own part. */
export function isSpokenBy(attempt: Pick<CorrelationAttempt, 'openingLine' | 'template'>, shown: Wording): boolean {
  const own = wordingOf(attempt.openingLine);
  if (own === null) return false;
  return own.near === shown.near || (attempt.template !== null && isCutOwnLine(shapeOf(attempt.template), shown, own));
}

/** Opening line in Unicode NFC with single spaces; null: empty. */
export function comparableLine(line: string | null): string | null {
  if (line === null) return null;
  // Fast path: most lines are plain, and there may be thousands.
  const plain = /^(?:[!-~]+ )*[!-~]+$/.test(line) ? line : line.normalize('NFC').replace(/\s+/g, ' ').trim();
  return plain === '' ? null : plain;
}

function readClue(record: ConversationFacts, index: AttemptIndex, clock: CorrelationClock): Clue {
  const { conversationId, agentId, calleeNumber, batchId, openingLine, startedAt } = record;
  const line = comparableLine(openingLine);
  const named = attemptsNamed(record.references, index);
  const shown = { conversationId, agentId, line, startedAt: startedAt === null ? null : startedAt - clock.offsetMs };
  // The report alone is no clue where the words name another recipient.
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
