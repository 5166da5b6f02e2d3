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

/** A record matched to an attempt by its strongest evidence; the type lists the strongest first. */
export interface ConversationMatch {
  attemptId: string;
  conversationId: string;
  evidence: 'reference' | 'batch_and_number' | 'number' | 'opening_line' | 'near_line';
}

/**
 * Matches conversations to attempts, over all campaigns of the given agents. Pure: input order does not matter; earlier matches
 * (`conversationId`) are kept and not reported again. Include matched and earlier attempts to the same recipient: they keep weak evidence
 * from pointing at the wrong one.
 *
 * Strongest evidence first: echoed reference; batch id and recipient's number; number between this POST and the next one to the recipient;
 * opening line in that time. A record that contradicts an attempt in any fact never matches it; only its start time is ignored where
 * reference or batch id name the attempt, since clocks may be set back. Several attempts for one record, or several records for one
 * attempt, are a tie that only another kind of evidence decides.
 *
 * No elimination between recipients with calls open together: foreign calls exist, and unanswered calls may leave no record. An attempt
 * drops out only if its conversation preceded the other's POST, or if it has one and both call *one* number. Around the later POST, where
 * clocks cannot decide, the later attempt takes the record if the earlier is settled (given up after its deadline) and had the same words;
 * else only the words or a stronger fact decide.
 *
 * A cut or altered line matches where it is near (`isNearLine`) and possible for one attempt alone.
 *
 * No rule detects a call of another system to the same number or with the same words, if its record has neither batch id nor reference.
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
  // Matches can dissolve ties, so start again from the strongest evidence until none is found.
  while (stages.some(matchBy)) continue;
  return matches.sort((a, b) => (a.attemptId < b.attemptId ? -1 : 1));
}

interface Stage {
  evidence: ConversationMatch['evidence'];
  /** Excludes records older than the POST; evidence that names the attempt needs no clock. */
  byTime: boolean;
  /** Attempts that this evidence points to, in POST order. */
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
      // An attempt with its own record cannot have another.
      attempt.conversationId === null
        ? isPossible(attempt, clue, index) && wordsAgainst(attempt, clue.line) === null
        : isNear(attempt, clue, index),
  },
];

function isNear(attempt: CorrelationAttempt, clue: Clue, index: AttemptIndex): boolean {
  const [shown, own] = [wordingOf(clue.line), wordingOf(attempt.openingLine)];
  return shown !== null && own !== null && isNearLine(shown, own) && fitsWindow(attempt, clue, index);
}

/** Attempts whose own words are shown, though cut. If many share them, all attempts: each further possible one makes a tie. */
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

/** Pairs of this stage that point only to each other. */
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

/** The one attempt whose record this can be; null: none. */
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
    // Later candidates were posted later, so none fits either.
    if (stage.byTime && clue.startedAt !== null && clue.startedAt < attempt.postedAt - index.toleranceMs) break;
    if (!stage.fits(attempt, clue, index)) continue;
    fitting.push(attempt);
    // An attempt without a record never drops out.
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

/** Whether an attempt had its conversation before the POST of another one that has none yet. */
function hadItsCall(
  attempt: CorrelationAttempt,
  fitting: readonly CorrelationAttempt[],
  matched: ReadonlySet<CorrelationAttempt>,
): boolean {
  const { rangAt } = attempt;
  if (rangAt === null || !matched.has(attempt)) return false;
  return fitting.some((other) => !matched.has(other) && other.postedAt > rangAt);
}

/** Whether a settled attempt leaves the record to a later one with the same words and number. */
function yields(attempt: CorrelationAttempt, fitting: readonly CorrelationAttempt[]): boolean {
  if (attempt.open || fitting.length === 1) return false;
  const words = comparableLine(attempt.openingLine);
  return fitting.some((later) => later.postedAt > attempt.postedAt && comparableLine(later.openingLine) === words);
}
