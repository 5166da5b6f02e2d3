import type { Dialect } from '../schemas/building-blocks.ts';
import { stateOf, type Call, type CallCourse, type CallState } from '../telephony/call.ts';
import { composeDialogue, type Dialogue, type Turn } from '../telephony/dialogue.ts';
import { isoTime, unixSeconds } from './times.ts';

export interface ConversationView {
  seed: string;
  dialect: Dialect;
  now: number;
}

/** The full record, as operation 6 answers it at this moment. */
export function describeConversation(call: Call, view: ConversationView): Record<string, unknown> {
  const seen = look(call, view);
  const { dialogue, analysed, turns } = seen;
  const extended = view.dialect === 'extended';
  return {
    conversation_id: call.conversationId,
    ...(extended ? describeInner(call, seen) : {}),
    transcript: turns.map((turn) => describeTurn(turn, seen, extended)),
    // No recording is made yet, so there is no address to give.
    audio: null,
    metadata: { ...baseMetadata(call, seen), ...(extended ? innerMetadata(call, seen) : {}) },
    evaluation_results: analysed ? describeEvaluation(dialogue, extended) : {},
    collected_data: analysed ? describeCollected(dialogue, extended) : {},
  };
}

/** The entry that operation 7 lists. */
export function describeListEntry(call: Call, view: ConversationView): Record<string, unknown> {
  const seen = look(call, view);
  if (view.dialect === 'spec') {
    return { conversation_id: call.conversationId, metadata: { start_time: isoTime(seen.startedAt) } };
  }
  return {
    conversation_id: call.conversationId,
    metadata: baseMetadata(call, seen),
    agent_id: call.agentId,
    agent_name: call.agent?.name ?? null,
    start_time_unix_secs: unixSeconds(seen.startedAt),
    call_duration_secs: seen.durationSeconds,
    message_count: seen.turns.length,
    status: wireStatus(seen.state),
    call_successful: callSuccess(seen),
    direction: call.direction,
    termination_reason: seen.ended ? seen.course.terminationReason : '',
  };
}

interface Seen {
  course: CallCourse;
  state: CallState;
  startedAt: number;
  /** Whole seconds from pick-up to the end, or until now. */
  durationSeconds: number;
  ended: boolean;
  analysed: boolean;
  dialogue: Dialogue;
  /** Turns that have been spoken by now. */
  turns: Turn[];
}

function look(call: Call, { seed, now }: ConversationView): Seen {
  const { course } = call;
  if (course === null) throw new Error(`Conversation ${call.conversationId} has a record before its call was dialled.`);
  const dialogue = composeDialogue(seed, call, course);
  const talkMs = course.answeredAt === null ? 0 : Math.max(0, Math.min(now, course.endedAt) - course.answeredAt);
  return {
    course,
    state: stateOf(call, now),
    startedAt: call.recordedAt ?? course.endedAt,
    durationSeconds: Math.round(talkMs / 1000),
    ended: now >= course.endedAt,
    analysed: now >= course.analysedAt,
    dialogue,
    turns: dialogue.turns.filter((turn) => turn.at <= now),
  };
}

function baseMetadata(call: Call, seen: Seen): Record<string, unknown> {
  return {
    start_time: isoTime(seen.startedAt),
    ...(seen.ended ? { end_time: isoTime(seen.course.endedAt), duration: seen.durationSeconds } : {}),
    agent_id: call.agentId,
  };
}

function describeTurn(turn: Turn, { course }: Seen, extended: boolean): Record<string, unknown> {
  const base = { speaker: turn.speaker, timestamp: isoTime(turn.at), text: turn.text };
  if (!extended) return base;
  const seconds = Math.max(0, Math.floor((turn.at - (course.answeredAt ?? turn.at)) / 1000));
  return { ...base, role: turn.speaker, time_in_call_secs: seconds, message: turn.text };
}

function describeEvaluation(dialogue: Dialogue, extended: boolean): Record<string, unknown> {
  const describe = (id: string, result: string): Record<string, unknown> => {
    const feedback =
      { success: 'The goal was reached.', failure: 'The goal was not reached.' }[result] ?? 'It cannot be told.';
    const score = { success: 1, failure: 0 }[result] ?? null;
    return { result, score, feedback, ...(extended ? { criteria_id: id, rationale: feedback } : {}) };
  };
  return Object.fromEntries(Object.entries(dialogue.evaluation).map(([id, result]) => [id, describe(id, result)]));
}

function describeCollected(dialogue: Dialogue, extended: boolean): Record<string, unknown> {
  const rationale = (value: unknown): string =>
    value === null ? 'It was not said.' : 'It was said in the conversation.';
  return Object.fromEntries(
    Object.entries(dialogue.collected).map(([id, value]) => [
      id,
      { value, ...(extended ? { data_collection_id: id, rationale: rationale(value) } : {}) },
    ]),
  );
}

function describeInner(call: Call, seen: Seen): Record<string, unknown> {
  const { variables, override } = call;
  return {
    agent_id: call.agentId,
    agent_name: call.agent?.name ?? null,
    status: wireStatus(seen.state),
    has_audio: false,
    has_user_audio: false,
    has_response_audio: false,
    message_count: seen.turns.length,
    termination_reason: seen.ended ? seen.course.terminationReason : '',
    conversation_initiation_client_data: { dynamic_variables: variables, conversation_config_override: override ?? {} },
    analysis: seen.analysed && seen.course.answeredAt !== null ? describeAnalysis(seen) : null,
  };
}

function innerMetadata(call: Call, seen: Seen): Record<string, unknown> {
  const { course } = seen;
  const outbound = call.direction === 'outbound';
  return {
    start_time_unix_secs: unixSeconds(seen.startedAt),
    call_duration_secs: seen.durationSeconds,
    accepted_time_unix_secs: unixSeconds(call.acceptedAt),
    queue_wait_secs: Math.max(0, Math.round(((call.dialedAt ?? call.acceptedAt) - call.acceptedAt) / 1000)),
    termination_reason: seen.ended ? course.terminationReason : '',
    error: seen.ended && course.brokeDown ? { code: 1011, reason: course.terminationReason } : null,
    phone_call: {
      type: 'telephony',
      direction: call.direction,
      phone_number_id: call.phoneNumberId,
      agent_number: call.agentNumber,
      external_number: call.to,
      ...(hasCarrierResult(seen) ? { call_result: course.result } : {}),
    },
    ...(outbound && call.batchId !== null
      ? { batch_call: { batch_call_id: call.batchId, batch_call_recipient_id: call.callId } }
      : {}),
  };
}

/** The carrier tells its result when it knows it; a conversation that broke down was no matter of the carrier. */
function hasCarrierResult({ course, state, ended }: Seen): boolean {
  return !course.brokeDown && (course.answeredAt === null ? ended : state !== 'dialing');
}

function describeAnalysis(seen: Seen): Record<string, unknown> {
  return {
    call_successful: callSuccess(seen),
    transcript_summary: `The conversation had ${seen.dialogue.turns.length} turns and lasted ${seen.durationSeconds} seconds.`,
    evaluation_criteria_results: describeEvaluation(seen.dialogue, true),
    data_collection_results: describeCollected(seen.dialogue, true),
  };
}

function callSuccess({ analysed, dialogue, course }: Seen): 'success' | 'failure' | 'unknown' {
  if (!analysed) return 'unknown';
  if (course.answeredAt === null || course.brokeDown) return 'failure';
  const results = Object.values(dialogue.evaluation);
  if (results.length === 0 || results.includes('unknown')) return 'unknown';
  return results.every((result) => result === 'success') ? 'success' : 'failure';
}

function wireStatus(state: CallState): string {
  const names: Record<CallState, string> = {
    queued: 'initiated',
    dialing: 'initiated',
    in_progress: 'in-progress',
    processing: 'processing',
    done: 'done',
    failed: 'failed',
  };
  return names[state];
}
