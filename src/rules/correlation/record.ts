import type { CampaignRules } from '../campaign-rules.ts';
import type { ConversationFacts } from '../conversation-facts.ts';
import type { AttemptResult, Disposition } from '../disposition.ts';
import { comparable, resultOfTalk, matchesValue, type Analysis, type TalkResult, type ValueReading } from '../talk-results.ts';

/** What repeated reads of one record have shown. */
export interface RecordReads {
  /** Consecutive reads of the same record, including the first. */
  unchangedReads: number;
  /** Service ms from the first to the last of those reads. */
  unchangedForMs: number;
}

/** Without status or end, a record counts as finished after this many equal reads … */
const steadyReads = 3;
/** … spread over at least this long: three reads, 60 s apart. */
const steadyForMs = 120_000;

/** How a record has been read so far. Times are ms of service time. */
export interface ReadHistory {
  reads: RecordReads;
  /** First read that showed the call over or finished; null: none. */
  overSince: number | null;
  now: number;
  analysisWaitMs: number;
}

/** Findings of an earlier read, for a record not read now. */
export type EarlierFindings = Pick<RecordEvidence, 'finished' | 'final'>;

/** Campaign rules by which a record is read. */
export interface ReadingRules extends ValueReading {
  dispositions?: CampaignRules['dispositions'];
  optOut?: CampaignRules['optOut'];
  results?: CampaignRules['results'];
  ringLimitMs?: number;
}

/** All that a record shows, read once. */
export interface RecordEvidence {
  /** The phone call is over. With status `processing`, transcript or carrier result may still be missing. */
  over: boolean;
  /** Since when: as known before, else now; null: neither over nor finished. */
  overSince: number | null;
  /** Whether the disposition may be read: before that, a ringing call looks unanswered. */
  finished: boolean;
  /** Whether the record need not be read again. */
  final: boolean;
  /**
   * Once finished: an opt-out (all there is where a transcript is withheld), else a rule of the campaign file, else the record itself.
   * Null: undetermined, never guessed.
   */
  disposition: AttemptResult | null;
  optOut: boolean;
  /** By the campaign's rules. Null: no rules, no talk, record not final, or an opt-out, which outranks all else. */
  talkResult: TalkResult | null;
  talk: RecordedTalk;
  /** Either side spoke. */
  spoken: boolean;
  /** A transcript without words, and no carrier result. */
  wordless: boolean;
  /** Duration of the call; 0: not in the record. */
  lastedMs: number;
}

const firstRead: ReadHistory = {
  reads: { unchangedReads: 1, unchangedForMs: 0 },
  overSince: null,
  now: 0,
  analysisWaitMs: Infinity,
};

/** Reads a record by the rules of a campaign, or of all that share its agent. Never throws. */
export function readRecord(
  facts: ConversationFacts,
  rules: ReadingRules = {},
  history: ReadHistory | EarlierFindings = firstRead,
): RecordEvidence {
  const over = isCallOver(facts);
  const finished = 'reads' in history ? isFinished(facts, history.reads) : history.finished;
  let overSince: number | null = null;
  let final: boolean;
  if ('reads' in history) {
    overSince = history.overSince ?? (finished || over ? history.now : null);
    const overForMs = overSince === null ? 0 : history.now - overSince;
    final = isFinal(facts, { finished, over, overForMs }, history);
  } else final = history.final;
  const spoken = facts.userTurns + facts.agentTurns > 0;
  const optOut = (rules.optOut ?? []).some((rule) => matchesValue(facts, rule));
  const disposition = finished || final ? resultOf(facts, rules.dispositions ?? [], { final, optOut }) : null;
  const lastedMs = durationOf(facts);
  const isTalk = final && disposition?.disposition === 'answered' && facts.userTurns > 0;
  return {
    over,
    overSince,
    finished: finished || final,
    final,
    disposition,
    optOut,
    talkResult: isTalk && rules.results !== undefined ? resultOfTalk(analysisIn(facts), lastedMs, rules.results, rules) : null,
    talk: talkIn(facts, final, rules.ringLimitMs ?? 0),
    spoken,
    wordless: facts.hasTranscript && !spoken && facts.callResult === null,
    lastedMs,
  };
}

/** How a record speaks of a talk, from surely none to maybe; stored with it. */
export const recordedTalk = {
  /** The carrier reports that the call was not answered. */
  nobody: 0,
  /** Empty transcript, no duration: no talk, where talks are known to show their words. */
  empty: 1,
  /** Empty transcript, no longer than a phone rings: no talk either, where the ringing counts. */
  ringing: 2,
  maybe: 3,
} as const;
/** Stored value of `recordedTalk`; larger values prove silence less. */
export type RecordedTalk = (typeof recordedTalk)[keyof typeof recordedTalk];

/** What an agent's records have shown so far; decides how silence is read. */
export interface AgentObservations {
  wordsShown: boolean;
  /** A record had an empty transcript and no duration, so durations are those of talks. */
  bareShown: boolean;
  /** Longest duration of a record with an empty transcript. */
  longestEmptyMs: number;
}

/**
 * First class that may hide a talk. A duration counts as ringing only if every record without words has one, none longer than a phone
 * rings.
 */
export function mayHideTalkFrom(shown: AgentObservations, ringLimitMs: number): RecordedTalk {
  if (!shown.wordsShown) return recordedTalk.empty;
  return shown.bareShown || shown.longestEmptyMs > ringLimitMs ? recordedTalk.ringing : recordedTalk.maybe;
}

/** A record that ends without a result only proves that a call was placed. */
function resultOf(
  facts: ConversationFacts,
  rules: CampaignRules['dispositions'],
  { final, optOut }: { final: boolean; optOut: boolean },
): AttemptResult | null {
  // A call without an end in its record looks unanswered, but may have been anything.
  const endless = (facts.status === 'initiated' || facts.status === 'in-progress') && facts.callResult === null && facts.userTurns === 0;
  const shown = ruledDisposition(facts, rules) ?? (endless ? null : readDisposition(facts));
  if (optOut) return result('opted_out', shown?.detail ?? null);
  return shown ?? (final ? result('unknown', 'record_tells_nothing') : null);
}

/**
 * A carrier result of not answered wins, else the transcript decides. Null: undetermined (no transcript, or no words despite a duration).
 */
function readDisposition(facts: ConversationFacts): AttemptResult | null {
  const spoken = facts.userTurns + facts.agentTurns > 0;
  switch (facts.callResult) {
    case 'busy':
    case 'no_answer':
    case 'voicemail':
      return result(facts.callResult);
    case 'failed':
      // Words contradict the carrier, so the call is not proven unanswered.
      return { disposition: 'failed', detail: null, counted: spoken };
    case 'answered':
    case null:
      break;
  }
  if (facts.userTurns > 0) return result('answered');
  if (facts.agentTurns > 0) return result('answered', 'silent');
  if (facts.status === 'failed') return result('failed');
  if (facts.callResult === 'answered') return result('answered', facts.hasTranscript ? 'silent' : null);
  if (!facts.hasTranscript) return null;
  return durationOf(facts) > 0 ? null : result('unreached');
}

/** First matching rule of the campaign file; null: none. Compares as text, ignoring case and surrounding blanks. */
function ruledDisposition(facts: ConversationFacts, rules: CampaignRules['dispositions']): AttemptResult | null {
  const { pointed } = facts;
  if (pointed === undefined) return null;
  const rule = rules.find(({ pointer, equals }) => {
    const text = Object.hasOwn(pointed, pointer) ? comparable(pointed[pointer]) : null;
    return text !== null && equals.some((value) => comparable(value) === text);
  });
  if (rule === undefined) return null;
  if (rule.disposition !== 'failed') return result(rule.disposition);
  // As with a carrier result, spoken words contradict it.
  return { disposition: 'failed', detail: null, counted: facts.userTurns + facts.agentTurns > 0 };
}

function isCallOver(facts: ConversationFacts): boolean {
  if (facts.status !== null) return facts.status !== 'initiated' && facts.status !== 'in-progress';
  // A ringing call also shows a duration of zero.
  return facts.endedAt !== null || (facts.durationMs ?? 0) > 0;
}

/**
 * Status `done` or `failed` if there is one; else an end time, a duration above zero, or three equal reads 60 s apart. Results may still be
 * missing: see `isFinal`.
 */
function isFinished(facts: ConversationFacts, reads: RecordReads): boolean {
  if (facts.status !== null) return facts.status === 'done' || facts.status === 'failed';
  if (isCallOver(facts)) return true;
  return reads.unchangedReads >= steadyReads && reads.unchangedForMs >= steadyForMs;
}

/** A record that only ever shows a running call is given up after this long: no call lasts so long. */
const longestCallMs = 4 * 3_600_000;

/**
 * True when finished with results (or none can come), at the latest `analysisWaitMs` after the call was over, even while `processing`; and
 * for an endless call after `longestCallMs`.
 */
function isFinal(
  facts: ConversationFacts,
  { finished, over, overForMs }: { finished: boolean; over: boolean; overForMs: number },
  { reads, analysisWaitMs }: ReadHistory,
): boolean {
  if (!finished && !over) return reads.unchangedForMs >= longestCallMs;
  if (overForMs >= analysisWaitMs) return true;
  return finished && hasResults(facts);
}

/** Without a status, empty results may still come; with one, `done` follows the analysis. */
function hasResults(facts: ConversationFacts): boolean {
  if (facts.status === 'failed') return true;
  if (hasValues(facts)) return true;
  if (facts.status !== 'done') return false;
  const isWordless = facts.hasTranscript && facts.userTurns + facts.agentTurns === 0;
  return isWordless || facts.collected !== null || facts.evaluation !== null;
}

function result(disposition: Disposition, detail: string | null = null): AttemptResult {
  return { disposition, detail, counted: true };
}

function durationOf(facts: ConversationFacts): number {
  if (facts.durationMs !== null) return facts.durationMs;
  return facts.startedAt !== null && facts.endedAt !== null ? facts.endedAt - facts.startedAt : 0;
}

/** Values of a running analysis may change, and must not cause another call. */
function analysisIn(facts: ConversationFacts): Analysis {
  const { status } = facts;
  const isComplete = status === null || status === 'done' || status === 'failed';
  return isComplete ? facts : { collected: null, evaluation: null };
}

/** Whether a call has collected values or an evaluation. */
function hasValues({ collected, evaluation }: ConversationFacts): boolean {
  return [collected, evaluation].some((values) => values !== null && Object.keys(values).length > 0);
}

/** `final`: no further reads. Any other trace of a talk (recording, collected value) speaks against silence. */
function talkIn(facts: ConversationFacts, final: boolean, ringLimitMs: number): RecordedTalk {
  if (!final || !isEnded(facts)) return recordedTalk.maybe;
  if (facts.callResult === 'voicemail') return recordedTalk.nobody;
  if (facts.userTurns + facts.agentTurns > 0) return recordedTalk.maybe;
  if (facts.callResult !== null && facts.callResult !== 'answered') return recordedTalk.nobody;
  const isSilent = facts.callResult === null && facts.hasTranscript && facts.audio === null && !hasValues(facts);
  if (!isSilent) return recordedTalk.maybe;
  const lastedMs = durationOf(facts);
  if (lastedMs === 0) return recordedTalk.empty;
  return lastedMs <= ringLimitMs ? recordedTalk.ringing : recordedTalk.maybe;
}

function isEnded(facts: ConversationFacts): boolean {
  return facts.status === 'failed' || facts.status === 'done' || facts.status === null || isCallOver(facts);
}
