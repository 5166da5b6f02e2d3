import { concealHeaders, concealSecrets } from '../llm/conceal.ts';
import type { Call, CallState } from '../telephony/call.ts';
import { callSuccess, describeAnalysis, describeCollected, describeEvaluation } from './assessment-record.ts';
import { baseMetadata, innerMetadata } from './conversation-metadata.ts';
import { SeenConversation, type ConversationView } from './seen-conversation.ts';
import { isoTime, unixSeconds } from './times.ts';
import { describeTurn, describeTurnInFull } from './turn-record.ts';

/** The full record, as operation 6 answers it at this moment. */
export function describeConversation(call: Call, view: ConversationView): Record<string, unknown> {
  const seen = new SeenConversation(call, view);
  const extended = view.dialect === 'extended';
  const answeredAt = seen.course.answeredAt ?? seen.startedAt;
  const channel = call.channel ?? 'phone';
  return {
    conversation_id: call.conversationId,
    ...(extended ? describeInner(seen) : {}),
    transcript: seen.turns.map((turn) =>
      extended ? describeTurnInFull(turn, answeredAt, channel) : describeTurn(turn),
    ),
    audio: seen.recorded ? view.audioUrl(call.conversationId) : null,
    metadata: { ...baseMetadata(seen), ...(extended ? innerMetadata(seen) : {}) },
    evaluation_results: seen.analysed ? describeEvaluation(seen.assessment, extended) : {},
    collected_data: seen.analysed ? describeCollected(seen.assessment, extended) : {},
  };
}

/** The entry that operation 7 lists. */
export function describeListEntry(call: Call, view: ConversationView): Record<string, unknown> {
  const seen = new SeenConversation(call, view);
  if (view.dialect === 'spec')
    return { conversation_id: call.conversationId, metadata: { start_time: isoTime(seen.startedAt) } };
  return {
    conversation_id: call.conversationId,
    metadata: baseMetadata(seen),
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

function describeInner(seen: SeenConversation): Record<string, unknown> {
  const { call, course, recorded, turns } = seen;
  return {
    agent_id: call.agentId,
    agent_name: call.agent?.name ?? null,
    status: wireStatus(seen.state),
    has_audio: recorded,
    has_user_audio: recorded && turns.some(({ speaker }) => speaker === 'user'),
    has_response_audio: recorded && turns.some(({ speaker }) => speaker === 'agent'),
    message_count: turns.length,
    termination_reason: seen.ended ? course.terminationReason : '',
    conversation_initiation_client_data: {
      dynamic_variables: concealSecrets(call.variables),
      conversation_config_override: concealHeaders(call.override ?? {}),
    },
    analysis: seen.analysed && course.answeredAt !== null ? describeAnalysis(seen) : null,
  };
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
