import { concealHeaders, concealSecrets } from '../../schemas/request-schemas.ts';
import type { Turn } from '../../core/state/talk.ts';
import type { Call, CallState } from '../../core/state/call.ts';
import { callSuccess, describeAnalysis, describeCollected, describeEvaluation } from './assessment-record.ts';
import { baseMetadata, innerMetadata, reasonOf } from './conversation-metadata.ts';
import { SeenConversation, type ConversationView } from './seen-conversation.ts';
import { innerTurn } from './turn-record.ts';

const wireStatuses: Record<CallState, string> = {
  queued: 'initiated',
  dialing: 'initiated',
  in_progress: 'in-progress',
  processing: 'processing',
  done: 'done',
  failed: 'failed',
};

export function describeConversation(call: Call, view: ConversationView): Record<string, unknown> {
  const seen = new SeenConversation(call, view);
  const extended = view.dialect === 'extended';
  const answeredAt = seen.course.answeredAt ?? seen.startedAt;
  const channel = call.channel ?? 'phone';
  const turns = seen.shown.turns(seen.talk, seen.turns);
  const transcript = turns?.map((turn) => ({
    speaker: turn.speaker,
    timestamp: seen.isoTime(turn.at),
    text: turn.text,
    ...(extended ? innerTurn(turn, answeredAt, channel) : {}),
  }));
  const withheld = seen.shown.withholdsResults(seen.talk);
  const results = seen.analysed && !withheld;
  return {
    conversation_id: call.conversationId,
    ...(extended ? describeInner(seen, turns ?? [], withheld) : {}),
    ...(transcript === undefined ? {} : { transcript }),
    audio: seen.recorded && !withheld ? view.audioUrl(call.conversationId) : null,
    metadata: { ...baseMetadata(seen), ...(extended ? innerMetadata(seen) : {}) },
    evaluation_results: results ? describeEvaluation(seen.assessment, extended) : {},
    collected_data: results ? describeCollected(seen.assessment, extended) : {},
  };
}

export function describeListEntry(call: Call, view: ConversationView): Record<string, unknown> {
  const seen = new SeenConversation(call, view);
  if (view.dialect === 'spec') return { conversation_id: call.conversationId, metadata: { start_time: seen.isoTime(seen.startedAt) } };
  return {
    conversation_id: call.conversationId,
    metadata: baseMetadata(seen),
    agent_id: call.agentId,
    agent_name: call.agent?.name ?? null,
    start_time_unix_secs: seen.unixSeconds(seen.startedAt),
    call_duration_secs: seen.durationSeconds,
    message_count: seen.shown.withholds(seen.talk) ? 0 : seen.turns.length,
    status: wireStatuses[seen.state],
    call_successful: callSuccess(seen),
    ...(seen.shown.shows('direction') ? { direction: call.direction } : {}),
    termination_reason: reasonOf(seen),
  };
}

function describeInner(seen: SeenConversation, turns: readonly Turn[], withheld: boolean): Record<string, unknown> {
  const { call, course } = seen;
  const recorded = seen.recorded && !withheld;
  return {
    agent_id: call.agentId,
    agent_name: call.agent?.name ?? null,
    status: wireStatuses[seen.state],
    has_audio: recorded,
    has_user_audio: recorded && turns.some(({ speaker }) => speaker === 'user'),
    has_response_audio: recorded && turns.some(({ speaker }) => speaker === 'agent'),
    has_auxiliary_audio: false,
    message_count: turns.length,
    termination_reason: reasonOf(seen),
    ...(seen.shown.shows('reference') ? { conversation_initiation_client_data: sentAlong(call) } : {}),
    analysis: seen.analysed && !withheld && course.answeredAt !== null ? describeAnalysis(seen) : null,
  };
}

export function sentAlong(call: Call): Record<string, unknown> {
  return {
    dynamic_variables: concealSecrets(call.variables),
    conversation_config_override: concealHeaders(call.override ?? {}),
  };
}
