import { concealHeaders, concealSecrets } from '../../schemas/request-schemas.ts';
import type { Turn, Assessment } from '../../core/state/talk.ts';
import type { Call, CallState } from '../../core/state/call.ts';
import { baseMetadata, innerMetadata, reasonOf, innerTurn } from './conversation-metadata.ts';
import { SeenConversation, type ConversationView } from './seen-conversation.ts';

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
  return { dynamic_variables: concealSecrets(call.variables), conversation_config_override: concealHeaders(call.override ?? {}) };
}

type Verdict = 'success' | 'failure' | 'unknown';

export function describeEvaluation({ evaluation }: Assessment, extended: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(evaluation).map(([id, { result, rationale, score }]) => {
      const scored = score === undefined ? { success: 1, failure: 0, unknown: null }[result] : score;
      return [id, { result, score: scored, feedback: rationale, ...(extended ? { criteria_id: id, rationale } : {}) }];
    }),
  );
}

export function describeCollected({ collected }: Assessment, extended: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(collected).map(([id, { value, rationale }]) => [
      id,
      { value, ...(extended ? { data_collection_id: id, rationale } : {}) },
    ]),
  );
}

export function describeAnalysis(seen: SeenConversation): Record<string, unknown> {
  const evaluation = describeEvaluation(seen.assessment, true);
  const collected = describeCollected(seen.assessment, true);
  return {
    call_successful: callSuccess(seen),
    call_summary_title: titleOf(seen),
    transcript_summary: summaryOf(seen),
    evaluation_criteria_results: evaluation,
    data_collection_results: collected,
    evaluation_criteria_results_list: Object.values(evaluation),
    data_collection_results_list: Object.values(collected),
  };
}

export function callSuccess({ analysed, assessment, course }: SeenConversation): Verdict {
  if (!analysed) return 'unknown';
  if (course.answeredAt === null || course.brokeDown) return 'failure';
  const results = Object.values(assessment.evaluation).map(({ result }) => result);
  if (results.length === 0 || results.includes('unknown')) return 'unknown';
  return results.every((result) => result === 'success') ? 'success' : 'failure';
}

function titleOf({ course, assessment, call }: SeenConversation): string {
  if (course.result === 'voicemail') return 'Message left';
  if (course.optedOut || assessment.collected['opt_out']?.value === true) return 'Opt-out';
  return call.agent?.name ?? 'Conversation';
}

function summaryOf({ talk, durationSeconds, assessment }: SeenConversation): string {
  const told = Object.entries(assessment.collected)
    .filter(([, { value }]) => value !== null && value !== false)
    .map(([id, { value }]) => `${id.replaceAll('_', ' ')}: ${String(value).slice(0, 80)}`);
  const facts = told.length === 0 ? '' : ` Told: ${told.join('; ')}.`;
  return `The conversation had ${talk.turns.length} turns and lasted ${durationSeconds} seconds.${facts}`;
}
