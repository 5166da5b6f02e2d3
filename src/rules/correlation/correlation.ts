import type { ConversationFacts } from '../conversation-facts.ts';
import {
  comparableLine,
  fitsAttempt,
  fitsWindow,
  indexAttempts,
  isPossible,
  isSpokenBy,
  readClues,
  wordsAgainst,
  type AttemptIndex,
  type Clue,
  type CorrelationAttempt,
  type CorrelationClock,
} from './evidence.ts';
import { hasNearLine, isNearLine, wordingOf } from './line-words.ts';

export type { CorrelationAttempt, CorrelationClock };

/** A record found to belong to an attempt, and the strongest evidence for it; strongest first in the type. */
export interface ConversationMatch {
  attemptId: string;
  conversationId: string;
  evidence: 'reference' | 'batch_and_number' | 'number' | 'opening_line' | 'near_line';
}

/**
 * Finds which conversations belong to which attempts, over all campaigns of the agents given. Pure: the order of the inputs
 * does not matter, and what was matched before (`conversationId`) is kept and not reported again. Matched attempts and
 * earlier attempts to the same person must be among the inputs: they stop weak evidence from pointing at the wrong one.
 *
 * Evidence is used strongest first: a reference echoed back; batch id and callee number; callee number in the time between
 * the POST and the next POST to the same person; opening line in that time. A record that contradicts an attempt
 * in any fact never matches it, however strong the rest; only when it started does not matter where reference or batch id name the
 * attempt, since clocks may be set back. Several attempts for one record, or several records for one
 * attempt, are a tie, which another kind of evidence may decide and nothing else does.
 *
 * There is no match by elimination between people whose calls were open together: calls that are not ours exist and unanswered calls
 * may leave no record, so that one of two people with the same opening line has a conversation does not give the other one the next
 * record with it. Only whoever had their conversation before the other was called at all drops out.
 * Between attempts to *one* number the person is certain, hence one that has its conversation drops out. Around
 * the later POST, where clocks cannot tell to which of two attempts a record belongs, the later one takes it when the
 * earlier is settled and would have said the same words: it was given up after its deadline. If the words differ, only the
 * words, or a stronger fact, decide.
 *
 * A line that was cut or written otherwise matches where it is near (`isNearLine`) and possible for one attempt alone.
 *
 * What no rule can see: a call of another system to the same number or with the same words, whose record carries
 * neither batch id nor reference.
 */
export function correlate(
  attempts: readonly CorrelationAttempt[],
  records: readonly ConversationFacts[],
  clock: CorrelationClock,
): ConversationMatch[] {
  const index = indexAttempts(attempts, clock);
  const matched = new Set(attempts.filter((attempt) => attempt.conversationId !== null));
  const taken = new Set([...matched].map((attempt) => attempt.conversationId));
  let clues = readClues(records, index, clock).filter((clue) => !taken.has(clue.conversationId));

  const matches: ConversationMatch[] = [];
  const matchBy = (stage: Stage): boolean => {
    const claims = collectClaims(clues, index, matched, stage);
    for (const [attempt, clue] of claims) {
      matched.add(attempt);
      taken.add(clue.conversationId);
      matches.push({ attemptId: attempt.attemptId, conversationId: clue.conversationId, evidence: stage.evidence });
    }
    if (claims.size > 0) clues = clues.filter((clue) => !taken.has(clue.conversationId));
    return claims.size > 0;
  };
  // What is matched can dissolve ties, so stronger evidence is asked again first until nothing more is found.
  while (stages.some(matchBy)) continue;
  return matches.sort((a, b) => (a.attemptId < b.attemptId ? -1 : 1));
}

interface Stage {
  evidence: ConversationMatch['evidence'];
  /** A record that is older than the POST is not of the attempt; what names an attempt needs no clock. */
  byTime: boolean;
  /** The attempts to which this kind of evidence points, in the order of their POSTs. */
  candidates: (clue: Clue, index: AttemptIndex) => readonly CorrelationAttempt[];
  fits: (attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex) => boolean;
}

const none: readonly CorrelationAttempt[] = [];

const stages: readonly Stage[] = [
  { evidence: 'reference', byTime: false, candidates: (clue) => clue.named, fits: fitsAttempt },
  {
    evidence: 'batch_and_number',
    byTime: false,
    candidates: (clue, index) => (clue.batchId === null ? none : numbersCalled(clue, index)),
    fits: (attempt, clue, index) => clue.batchId === attempt.serviceBatchId && fitsAttempt(attempt, clue, index),
  },
  { evidence: 'number', byTime: true, candidates: numbersCalled, fits: fitsWindow },
  {
    evidence: 'opening_line',
    byTime: true,
    candidates: (clue, index) => (clue.line === null ? none : (index.byLine.get(clue.line) ?? none)),
    fits: fitsWindow,
  },
  {
    evidence: 'near_line',
    byTime: false,
    candidates: nearLines,
    fits: (attempt, clue, index) =>
      // Whoever has a record of their own can have no other one.
      attempt.conversationId === null
        ? isPossible(attempt, clue, index) && wordsAgainst(attempt, clue.line) === null
        : isNear(attempt, clue, index),
  },
];

function isNear(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  const [shown, own] = [wordingOf(clue.line), wordingOf(attempt.openingLine)];
  return shown !== null && own !== null && isNearLine(shown, own) && fitsWindow(attempt, clue, index);
}

/**
 * Those whose own words are shown, though cut. Where these are words that many have, everybody: each further one whose record it may be is
 * one too many.
 */
function nearLines(clue: Clue, index: AttemptIndex): readonly CorrelationAttempt[] {
  if (clue.line === null || index.byLine.has(clue.line)) return none;
  const shown = wordingOf(clue.line);
  if (shown === null || !hasNearLine(shown, index.nearLines)) return none;
  const spoken = index.all.filter((attempt) => isSpokenBy(attempt, shown));
  return spoken.length > 0 ? spoken : index.all;
}

function numbersCalled(clue: Clue, index: AttemptIndex): readonly CorrelationAttempt[] {
  return clue.calleeNumber === null ? none : (index.byNumber.get(clue.calleeNumber) ?? none);
}

/** The pairs of this stage in which each points to the other alone. */
function collectClaims(
  clues: readonly Clue[],
  index: AttemptIndex,
  matched: ReadonlySet<CorrelationAttempt>,
  stage: Stage,
): Map<CorrelationAttempt, Clue> {
  const claims = new Map<CorrelationAttempt, Clue>();
  const contested = new Set<CorrelationAttempt>();
  const ties = new Map<readonly CorrelationAttempt[], Clue[]>();
  for (const clue of clues) {
    const candidates = stage.candidates(clue, index);
    const choice = chooseAttempt(candidates, clue, index, matched, stage);
    if (choice === 'tie') {
      const tied = ties.get(candidates);
      if (tied === undefined) ties.set(candidates, [clue]);
      else tied.push(clue);
    } else if (choice !== null) {
      if (claims.has(choice)) contested.add(choice);
      claims.set(choice, clue);
    }
  }
  for (const [candidates, tied] of ties) {
    for (const attempt of candidates) {
      if (claims.has(attempt) && tied.some((clue) => stage.fits(attempt, clue, index))) contested.add(attempt);
    }
  }
  for (const attempt of contested) claims.delete(attempt);
  return claims;
}

/** The one attempt whose record this can be; null when there is none. */
function chooseAttempt(
  candidates: readonly CorrelationAttempt[],
  clue: Clue,
  index: AttemptIndex,
  matched: ReadonlySet<CorrelationAttempt>,
  stage: Stage,
): CorrelationAttempt | 'tie' | null {
  const fitting: CorrelationAttempt[] = [];
  let firstFree: CorrelationAttempt | undefined;
  for (const attempt of candidates) {
    // Those that follow were posted later, so none of them fits either.
    if (stage.byTime && clue.startedAt !== null && clue.startedAt < attempt.postedAt - index.toleranceMs) break;
    if (!stage.fits(attempt, clue, index)) continue;
    fitting.push(attempt);
    // Whoever has no record yet never drops out.
    if (!matched.has(attempt)) {
      if (firstFree !== undefined && firstFree.e164 !== attempt.e164) return 'tie';
      firstFree ??= attempt;
    }
  }
  const left = fitting.filter((attempt) => !hadItsCall(attempt, fitting, matched));
  if (left.some(({ e164 }) => e164 !== left[0]?.e164)) return 'tie';
  const free = fitting.filter((attempt) => !yields(attempt, fitting) && !matched.has(attempt));
  const [only] = free;
  if (only === undefined) return null;
  return free.length === 1 ? only : 'tie';
}

/** Whether an attempt had its conversation before another one, which has none yet, was posted. */
function hadItsCall(
  attempt: CorrelationAttempt,
  fitting: readonly CorrelationAttempt[],
  matched: ReadonlySet<CorrelationAttempt>,
): boolean {
  const { rangAt } = attempt;
  if (rangAt === null || !matched.has(attempt)) return false;
  return fitting.some((other) => !matched.has(other) && other.postedAt > rangAt);
}

/** Whether a settled attempt leaves the record to a later one that would have said the same words to the same number. */
function yields(attempt: CorrelationAttempt, fitting: readonly CorrelationAttempt[]): boolean {
  if (attempt.open || fitting.length === 1) return false;
  const words = comparableLine(attempt.openingLine);
  return fitting.some((later) => later.postedAt > attempt.postedAt && comparableLine(later.openingLine) === words);
}
