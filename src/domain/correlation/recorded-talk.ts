import { durationOf, hasValues, isCallOver } from '../disposition.ts';
import type { ConversationFacts } from '../conversation-facts.ts';

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

/** `final`: the record tells no more. Whatever else it holds of a talk (a recording, a collected value) speaks against silence. */
export function talkIn(facts: ConversationFacts, final: boolean, ringLimitMs: number): RecordedTalk {
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

function isEnded(facts: ConversationFacts): boolean {
  return facts.status === 'failed' || facts.status === 'done' || facts.status === null || isCallOver(facts);
}
