import type { CampaignRules } from '../campaign-rules.ts';
import type { ConversationFacts } from '../conversation-facts.ts';
import type { AttemptResult, Disposition } from '../disposition.ts';
import { comparable, resultOfTalk, saysSo, type Analysis, type TalkResult, type ValueReading } from '../talk-results.ts';

/** What repeated reads of one record have shown so far. */
export interface RecordReads {
  /** Reads in a row that showed the same record, the first of them included. */
  unchangedReads: number;
  /** Service milliseconds from the first to the last of those reads. */
  unchangedForMs: number;
}

/** A record that says neither status nor end is taken as finished after this many equal reads … */
const steadyReads = 3;
/** … spread over at least this long: three reads, 60 s apart. */
const steadyForMs = 120_000;

/** How a record has been read so far. Times are milliseconds of service time. */
export interface ReadHistory {
  reads: RecordReads;
  /** When a read first showed the call over or finished; null: none did. */
  overSince: number | null;
  now: number;
  analysisWaitMs: number;
}

/** What was found when it was read, of a record that is not read now. */
export type Judged = Pick<RecordEvidence, 'finished' | 'final'>;

/** By which rules of campaigns a record is read. */
export interface ReadingRules extends ValueReading {
  dispositions?: CampaignRules['dispositions'];
  optOut?: CampaignRules['optOut'];
  results?: CampaignRules['results'];
  ringLimitMs?: number;
}

/** All that a record shows, read once. */
export interface RecordEvidence {
  /**
   * Whether the phone call itself is over, so that no one is on the line any more. It does not say that the record is
   * complete: with status `processing` the transcript or the carrier result may still be missing.
   */
  over: boolean;
  /** Since when: as it was known before, else now; null: the call is neither over nor finished. */
  overSince: number | null;
  /** Whether the disposition may be read: before that a ringing call looks like an unanswered one. */
  finished: boolean;
  /** Whether the record need never be read again. */
  final: boolean;
  /**
   * Of a finished record: a rule of the campaign file, else what the record shows by itself, and before both a wish not to be called
   * again, which may be all that is told where a transcript is withheld. Null: it does not tell, so nobody may guess.
   */
  disposition: AttemptResult | null;
  /** The callee asked not to be called again. */
  optOut: boolean;
  /**
   * What the talk came to, by the rules of the campaign; null: it has none, nobody was talked to, the record is not final, or the callee
   * asked not to be called again, which outranks everything else in it.
   */
  talkResult: TalkResult | null;
  talk: RecordedTalk;
  /** Words of either side. */
  spoken: boolean;
  /** A transcript without words, and no result of the carrier. */
  wordless: boolean;
  /** How long the call lasted; 0 where the record names no time. */
  lastedMs: number;
}

const firstLook: ReadHistory = {
  reads: { unchangedReads: 1, unchangedForMs: 0 },
  overSince: null,
  now: 0,
  analysisWaitMs: Infinity,
};

/** Reads what a record shows, by the rules of a campaign, or of all that share its agent. Never throws. */
export function readRecord(facts: ConversationFacts, rules: ReadingRules = {}, history: ReadHistory | Judged = firstLook): RecordEvidence {
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
  // The callee asked not to be called again.
  const optOut = (rules.optOut ?? []).some((rule) => saysSo(facts, rule));
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

/** What a record says about whether somebody spoke, from surely nobody to maybe; stored with it. */
export const recordedTalk = {
  /** The carrier says that nobody picked up. */
  nobody: 0,
  /** An empty transcript and no duration: nobody, where talks are known to show their words. */
  empty: 1,
  /** An empty transcript that lasted no longer than a phone rings: nobody as well, where the ringing counts. */
  ringing: 2,
  maybe: 3,
} as const;
/** A stored value of `recordedTalk`; the larger, the less a record proves that nobody spoke. */
export type RecordedTalk = (typeof recordedTalk)[keyof typeof recordedTalk];

/** What an agent has shown so far, by which silence in a record is read. */
export interface ShownByAgent {
  wordsShown: boolean;
  /** A record with an empty transcript and no duration: then a duration is that of a talk. */
  bareShown: boolean;
  /** The longest duration of a record with an empty transcript. */
  longestEmptyMs: number;
}

/**
 * From which class on a record may hide a talk. That a duration is the ringing is believed only of a service that gives every record
 * without words one, and none that is longer than a phone rings.
 */
export function mayHideTalkFrom(shown: ShownByAgent, ringLimitMs: number): RecordedTalk {
  if (!shown.wordsShown) return recordedTalk.empty;
  return shown.bareShown || shown.longestEmptyMs > ringLimitMs ? recordedTalk.ringing : recordedTalk.maybe;
}

/** A record that ends without telling a result proves a placed call and no more. */
function resultOf(
  facts: ConversationFacts,
  rules: CampaignRules['dispositions'],
  { final, optOut }: { final: boolean; optOut: boolean },
): AttemptResult | null {
  // A call that never ended by its record looks like an unanswered one, and may have been anything.
  const endless = (facts.status === 'initiated' || facts.status === 'in-progress') && facts.callResult === null && facts.userTurns === 0;
  const shown = ruledDisposition(facts, rules) ?? (endless ? null : readDisposition(facts));
  if (optOut) return result('opted_out', shown?.detail ?? null);
  return shown ?? (final ? result('unknown', 'record_tells_nothing') : null);
}

/**
 * A carrier result that says the call was not answered wins; else the transcript decides. Null: the record does not tell (a list entry
 * without transcript, or nothing said although time passed).
 */
function readDisposition(facts: ConversationFacts): AttemptResult | null {
  const spoken = facts.userTurns + facts.agentTurns > 0;
  switch (facts.callResult) {
    case 'busy':
    case 'no_answer':
    case 'voicemail':
      return result(facts.callResult);
    case 'failed':
      // Words in the transcript contradict the carrier, so there is no proof that nobody picked up.
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

/**
 * By a rule of the campaign file on a field of the record: the first that fits decides. Null: none fits. Comparison is by text without case
 * and surrounding blanks.
 */
function ruledDisposition(facts: ConversationFacts, rules: CampaignRules['dispositions']): AttemptResult | null {
  const { pointed } = facts;
  if (pointed === undefined) return null;
  const rule = rules.find(({ pointer, equals }) => {
    const said = Object.hasOwn(pointed, pointer) ? comparable(pointed[pointer]) : null;
    return said !== null && equals.some((value) => comparable(value) === said);
  });
  if (rule === undefined) return null;
  if (rule.disposition !== 'failed') return result(rule.disposition);
  // As with a carrier's word: what was spoken contradicts it.
  return { disposition: 'failed', detail: null, counted: facts.userTurns + facts.agentTurns > 0 };
}

function isCallOver(facts: ConversationFacts): boolean {
  if (facts.status !== null) return facts.status !== 'initiated' && facts.status !== 'in-progress';
  // A duration of zero is also what a ringing call shows.
  return facts.endedAt !== null || (facts.durationMs ?? 0) > 0;
}

/**
 * Status `done` or `failed` where a status is shown, else an end time or a duration above zero, else no change over three reads 60 s
 * apart. It does not say that collected values and evaluation have arrived: that is `isFinal`.
 */
function isFinished(facts: ConversationFacts, reads: RecordReads): boolean {
  if (facts.status !== null) return facts.status === 'done' || facts.status === 'failed';
  if (isCallOver(facts)) return true;
  return reads.unchangedReads >= steadyReads && reads.unchangedForMs >= steadyForMs;
}

/** A record that says that the call goes on, and never anything else, is given up after this long: no call lasts so. */
const longestCallMs = 4 * 3_600_000;

/**
 * True when it is finished and its results are there (or none can come), and at the latest `analysisWaitMs` after the call was over, also
 * while the status still says `processing`: the attempt is then settled from what the record shows. True also for a call that has not
 * ended after any length of a call.
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

/** Without a status, empty results may be results to come; with one, `done` comes after the analysis. */
function hasResults(facts: ConversationFacts): boolean {
  if (facts.status === 'failed') return true;
  if (hasValues(facts)) return true;
  if (facts.status !== 'done') return false;
  const nothingSaid = facts.hasTranscript && facts.userTurns + facts.agentTurns === 0;
  return nothingSaid || facts.collected !== null || facts.evaluation !== null;
}

function result(disposition: Disposition, detail: string | null = null): AttemptResult {
  return { disposition, detail, counted: true };
}

function durationOf(facts: ConversationFacts): number {
  if (facts.durationMs !== null) return facts.durationMs;
  return facts.startedAt !== null && facts.endedAt !== null ? facts.endedAt - facts.startedAt : 0;
}

/** What may name a talk: values of an analysis that still runs may change, and nobody is called because of them. */
function analysisIn(facts: ConversationFacts): Analysis {
  const { status } = facts;
  const isComplete = status === null || status === 'done' || status === 'failed';
  return isComplete ? facts : { collected: null, evaluation: null };
}

/** Whether anything was collected in a call, or its evaluation says anything. */
function hasValues({ collected, evaluation }: ConversationFacts): boolean {
  return [collected, evaluation].some((values) => values !== null && Object.keys(values).length > 0);
}

/** `final`: the record tells no more. Whatever else it holds of a talk (a recording, a collected value) speaks against silence. */
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
