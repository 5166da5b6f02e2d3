import type { CampaignRules } from './campaign-rules.ts';
import type { ConversationFacts } from './conversation-facts.ts';

/** Result of one attempt. `unreached`: not answered, cause not visible. `unknown`: cannot tell whether it was placed. */
export const dispositions = [
  'answered',
  'voicemail',
  'busy',
  'no_answer',
  'unreached',
  'failed',
  'invalid_number',
  'opted_out',
  'unknown',
] as const;
/** Result of one attempt, as results and reports show it. */
export type Disposition = (typeof dispositions)[number];

/**
 * Counts of attempts by disposition as counts of calls: where the service refused the number (`invalid_number`, which nothing else is) it
 * placed none.
 */
export function callsAmong(counts: Readonly<Record<string, number>>): Record<string, number> {
  const { invalid_number: _refused, ...calls } = counts;
  return calls;
}

/** Detail of a call whose record could not be told apart from those of others: only a person releases its row. */
export const notToldApart = 'records_not_told_apart';

/** Detail of a call that was taken for not placed, until an answer or a record showed that it was. */
export const acceptedLate = 'accepted_late';

/** Result of one attempt as `readDisposition` reads it. Equal facts always give an equal result. */
export interface AttemptResult {
  disposition: Disposition;
  /** `silent`: the line was answered but only the agent spoke. */
  detail: string | null;
  /** Whether the attempt uses up the budget. False only with proof that nobody picked up (a carrier result). */
  counted: boolean;
}

export type { ConversationFacts };

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

/**
 * The disposition that a *finished* record shows (see `isFinished`; before that a ringing call looks like an unanswered
 * one). A carrier result that says the call was not answered wins; else the transcript decides. Null: the record does not
 * tell (a list entry without transcript, or nothing said although time passed). The caller must not guess then: the
 * call was placed and a person decides. Never gives `opted_out` (see `heardOptOut`), `invalid_number` or `unknown`.
 */
export function readDisposition(facts: ConversationFacts): AttemptResult | null {
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
 * The disposition that a field of the record shows by a rule of the campaign file, for a finished record; the first rule that fits
 * decides, before `readDisposition`. Null: none fits. Comparison is by text without case and surrounding blanks.
 */
export function ruledDisposition(facts: ConversationFacts, rules: CampaignRules['dispositions']): AttemptResult | null {
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

/**
 * Whether the phone call itself is over, so that no one is on the line any more. It does not say that the record is
 * complete: with status `processing` the transcript or the carrier result may still be missing.
 */
export function isCallOver(facts: ConversationFacts): boolean {
  if (facts.status !== null) return facts.status !== 'initiated' && facts.status !== 'in-progress';
  // A duration of zero is also what a ringing call shows.
  return facts.endedAt !== null || (facts.durationMs ?? 0) > 0;
}

/**
 * Whether `readDisposition` may be asked: status `done` or `failed` where a status is shown, else an end time or a
 * duration above zero, else no change over three reads 60 s apart. It does not say that collected values and evaluation have
 * arrived: that is `isFinal`.
 */
export function isFinished(facts: ConversationFacts, reads: RecordReads): boolean {
  if (facts.status !== null) return facts.status === 'done' || facts.status === 'failed';
  if (isCallOver(facts)) return true;
  return reads.unchangedReads >= steadyReads && reads.unchangedForMs >= steadyForMs;
}

/** What decides whether a record is read again. Times are milliseconds of service time. */
export interface FinalityContext {
  reads: RecordReads;
  /** Service milliseconds since a read first showed the call over or finished; 0 at that read. */
  overForMs: number;
  analysisWaitMs: number;
}

/** A record that says that the call goes on, and never anything else, is given up after this long: no call lasts so. */
const longestCallMs = 4 * 3_600_000;

/**
 * Whether the record need never be read again. True when it is finished and its results are there (or none can come),
 * and at the latest `analysisWaitMs` after the call was over, also while the status still says `processing`: the
 * attempt is then settled from what the record shows. True also for a call that has not ended after any length of a call.
 */
export function isFinal(facts: ConversationFacts, context: FinalityContext): boolean {
  const finished = isFinished(facts, context.reads);
  if (!finished && !isCallOver(facts)) return context.reads.unchangedForMs >= longestCallMs;
  if (context.overForMs >= context.analysisWaitMs) return true;
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

/**
 * Whether the callee asked not to be called again: a collected value or evaluation result named by the rules equals one of
 * the listed values. Comparison is by text without case and surrounding blanks, so `true` and `"True"` are equal, while
 * `yes` counts only where it is listed. The caller turns the attempt into `opted_out`.
 */
export function heardOptOut(facts: ConversationFacts, rules: CampaignRules['optOut']): boolean {
  return rules.some((rule) => {
    const said = resultNamed(rule.source === 'collected' ? facts.collected : facts.evaluation, rule.key);
    return said !== null && rule.values.some((value) => comparable(value) === said);
  });
}

function resultNamed(results: Record<string, unknown> | null, key: string): string | null {
  if (results === null || !Object.hasOwn(results, key)) return null;
  const entry = results[key];
  if (typeof entry !== 'object' || entry === null) return comparable(entry);
  // Comparable services wrap the result: `{ value, rationale }` when collected, `{ result, rationale }` when evaluated.
  if ('value' in entry) return comparable(entry.value);
  return 'result' in entry ? comparable(entry.result) : null;
}

function comparable(value: unknown): string | null {
  if (typeof value === 'string') return value.trim().toLowerCase();
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : null;
}

function result(disposition: Disposition, detail: string | null = null): AttemptResult {
  return { disposition, detail, counted: true };
}

/** How long a call lasted by its record; 0 where the record names no time. */
export function durationOf(facts: ConversationFacts): number {
  if (facts.durationMs !== null) return facts.durationMs;
  return facts.startedAt !== null && facts.endedAt !== null ? facts.endedAt - facts.startedAt : 0;
}

/** Whether anything was collected in a call, or its evaluation says anything. */
export function hasValues({ collected, evaluation }: ConversationFacts): boolean {
  return [collected, evaluation].some((values) => values !== null && Object.keys(values).length > 0);
}
