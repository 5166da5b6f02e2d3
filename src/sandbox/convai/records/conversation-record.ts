import { textOf } from '../../core/json.ts';
import { concealHeaders, concealSecrets } from '../../schemas/request-schemas.ts';
import type { Turn, Assessment } from '../../core/state/talk.ts';
import type { Call, CallState } from '../../core/state/call.ts';
import { baseMetadata, innerMetadata, reasonOf, innerTurn } from './conversation-metadata.ts';
import { ObservedConversation, type ConversationView } from './seen-conversation.ts';

const wireStatuses = {
  queued: 'initiated',
  dialing: 'initiated',
  in_progress: 'in-progress',
  processing: 'processing',
  done: 'done',
  failed: 'failed',
} as const satisfies Record<CallState, string>;

export function wireStatus(state: CallState): (typeof wireStatuses)[CallState] {
  return wireStatuses[state];
}

export function describeConversation(call: Call, view: ConversationView): Record<string, unknown> {
  const seen = new ObservedConversation(call, view);
  const { contract, further } = view.facts;
  const answeredAt = seen.course.answeredAt ?? seen.startedAt;
  const channel = call.channel ?? 'phone';
  const turns = seen.shown.turns(seen.talk, seen.isHidden ? [] : seen.turns);
  const transcript = turns?.map((turn) => ({
    ...(contract ? { speaker: turn.speaker, timestamp: seen.isoTime(turn.at), text: turn.text } : {}),
    ...(further ? innerTurn(turn, answeredAt, channel) : {}),
  }));
  const withheld = seen.shown.withholdsResults(seen.talk);
  const results = seen.showsAnalysis && !withheld;
  return {
    conversation_id: call.conversationId,
    ...(further ? describeInner(seen, turns ?? [], withheld) : {}),
    ...(transcript === undefined ? {} : { transcript }),
    metadata: { ...(contract ? baseMetadata(seen) : {}), ...(further ? innerMetadata(seen) : {}) },
    ...(contract
      ? {
          audio: seen.recorded && !withheld ? view.audioUrl(call.conversationId) : null,
          evaluation_results: results ? describeEvaluation(seen.assessment, further) : {},
          collected_data: results ? describeCollected(seen.assessment, further) : {},
        }
      : {}),
  };
}

export function describeListEntry(call: Call, view: ConversationView, summarised = false): Record<string, unknown> {
  const seen = new ObservedConversation(call, view);
  if (!view.facts.further) return { conversation_id: call.conversationId, metadata: { start_time: seen.isoTime(seen.startedAt) } };
  return {
    conversation_id: call.conversationId,
    ...(view.facts.contract ? { metadata: baseMetadata(seen) } : {}),
    agent_id: call.agentId,
    agent_name: call.agent?.name ?? null,
    start_time_unix_secs: seen.unixSeconds(seen.startedAt),
    call_duration_secs: seen.durationSeconds,
    message_count: seen.isHidden || seen.shown.withholds(seen.talk) ? 0 : seen.turns.length,
    status: wireStatus(seen.state),
    call_successful: callSuccess(seen),
    ...(seen.shown.shows('direction') ? { direction: call.direction } : {}),
    termination_reason: reasonOf(seen),
    ...(summarised && hasAnalysis(seen) ? { transcript_summary: summaryOf(seen), call_summary_title: titleOf(seen) } : {}),
  };
}

function hasAnalysis({ showsAnalysis, course, shown, talk }: ObservedConversation): boolean {
  return showsAnalysis && course.answeredAt !== null && !shown.withholdsResults(talk);
}

function describeInner(seen: ObservedConversation, turns: readonly Turn[], withheld: boolean): Record<string, unknown> {
  const { call } = seen;
  const recorded = seen.recorded && !withheld;
  return {
    agent_id: call.agentId,
    agent_name: call.agent?.name ?? null,
    status: wireStatus(seen.state),
    has_audio: recorded,
    has_user_audio: recorded && turns.some(({ speaker }) => speaker === 'user'),
    has_response_audio: recorded && turns.some(({ speaker }) => speaker === 'agent'),
    has_auxiliary_audio: false,
    message_count: turns.length,
    termination_reason: reasonOf(seen),
    ...(seen.shown.shows('reference') ? { user_id: call.userId ?? null, conversation_initiation_client_data: sentAlong(call) } : {}),
    analysis: hasAnalysis(seen) ? describeAnalysis(seen) : null,
  };
}

export function sentAlong(call: Call): Record<string, unknown> {
  const { variables, override = {}, userId, modelExtraBody, clientData } = call;
  return {
    dynamic_variables: concealSecrets(variables),
    conversation_config_override: concealHeaders(override),
    ...(userId === undefined ? {} : { user_id: userId }),
    ...(modelExtraBody === undefined ? {} : { custom_llm_extra_body: modelExtraBody }),
    ...clientData,
  };
}

type Verdict = 'success' | 'failure' | 'unknown';

export function describeEvaluation({ evaluation }: Assessment, further: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(evaluation).map(([id, { result, rationale, score }]) => {
      const scored = score === undefined ? { success: 1, failure: 0, unknown: null }[result] : score;
      return [id, { result, score: scored, feedback: rationale, ...(further ? { criteria_id: id, rationale } : {}) }];
    }),
  );
}

export function describeCollected({ collected }: Assessment, further: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(collected).map(([id, { value, rationale }]) => [
      id,
      { value, ...(further ? { data_collection_id: id, rationale } : {}) },
    ]),
  );
}

export function describeAnalysis(seen: ObservedConversation): Record<string, unknown> {
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

export function callSuccess({ analysed, assessment, course }: ObservedConversation): Verdict {
  if (!analysed) return 'unknown';
  if (course.answeredAt === null || course.brokeDown) return 'failure';
  const results = Object.values(assessment.evaluation).map(({ result }) => result);
  if (results.length === 0 || results.includes('unknown')) return 'unknown';
  return results.every((result) => result === 'success') ? 'success' : 'failure';
}

function titleOf({ course, assessment, call }: ObservedConversation): string {
  if (course.result === 'voicemail') return 'Message left';
  if (course.optedOut || assessment.collected['opt_out']?.value === true) return 'Opt-out';
  return call.agent?.name ?? 'Conversation';
}

function summaryOf({ talk, durationSeconds, assessment }: ObservedConversation): string {
  const collectedValues = Object.entries(assessment.collected)
    .filter(([, { value }]) => value !== null && value !== false)
    .map(([id, { value }]) => `${id.replaceAll('_', ' ')}: ${textOf(value).slice(0, 80)}`);
  const facts = collectedValues.length === 0 ? '' : ` Told: ${collectedValues.join('; ')}.`;
  return `The conversation had ${talk.turns.length} turns and lasted ${durationSeconds} seconds.${facts}`;
}
