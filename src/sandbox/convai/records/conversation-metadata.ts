import { configOf, languageOfAgent } from '../../core/conversation/call-config.ts';
import { recipientIdOf, type Call, type SocketFacts } from '../../core/state/call.ts';
import type { ObservedConversation } from './seen-conversation.ts';
import type { Turn, TurnUsage, ToolUse } from '../../core/state/talk.ts';
import { findModel, priceUsage } from '../../models/catalogue.ts';

export function baseMetadata(seen: ObservedConversation): Record<string, unknown> {
  const { call, startedAt, ended, course, durationSeconds } = seen;
  return {
    start_time: seen.isoTime(startedAt),
    ...(ended ? { end_time: seen.isoTime(course.endedAt), duration: durationSeconds } : {}),
    agent_id: call.agentId,
  };
}

export function innerMetadata(seen: ObservedConversation): Record<string, unknown> {
  const { call } = seen;
  const channel = call.channel ?? 'phone';
  return {
    start_time_unix_secs: seen.unixSeconds(seen.startedAt),
    call_duration_secs: seen.durationSeconds,
    accepted_time_unix_secs: seen.unixSeconds(call.acceptedAt),
    queue_wait_secs: Math.max(0, Math.round(((call.dialedAt ?? call.acceptedAt) - call.acceptedAt) / 1000)),
    termination_reason: reasonOf(seen),
    error: errorOf(seen),
    ...describeCharging(seen.turns),
    main_language: languageOfAgent(configOf(call)),
    conversation_initiation_source: { phone: seen.facts.provider, websocket: 'websocket', webrtc: 'webrtc' }[channel],
    ...(channel === 'phone' ? { phone_call: describePhoneCall(seen) } : {}),
    ...(call.socket === undefined ? {} : describeSocketFacts(call.socket)),
    ...(call.direction === 'outbound' && call.batchId !== null && seen.shown.shows('batch')
      ? { batch_call: { batch_call_id: call.batchId, batch_call_recipient_id: recipientIdOf(call), ...describeCampaignOf(call) } }
      : {}),
  };
}

/** What went wrong; the published record also shows it for unanswered calls. */
function errorOf({ ended, course, shown, facts }: ObservedConversation): { code: number; reason: string } | null {
  const { brokeDown, terminationReason: reason, answeredAt } = course;
  if (!ended || !(brokeDown || (facts.unansweredIsError && answeredAt === null && !shown.isBare))) return null;
  return { code: course.errorCode ?? 1011, reason };
}

/** Termination reason; empty while unknown or hidden. */
export function reasonOf({ ended, course, shown }: ObservedConversation): string {
  return ended && !shown.isBare ? course.terminationReason : '';
}

function describeCampaignOf({ campaign }: Call): Record<string, unknown> {
  if (campaign === undefined) return {};
  const { campaignId, leadId } = campaign;
  return { campaign: { campaign_id: campaignId, campaign_lead_id: leadId, cold_attempt: 1, conversation_type: 'initial' } };
}

function describePhoneCall({ call, course, hasCarrierResult, shown, facts }: ObservedConversation): Record<string, unknown> {
  return {
    type: facts.provider,
    ...(shown.shows('direction') ? { direction: call.direction } : {}),
    phone_number_id: call.phoneNumberId,
    agent_number: call.agentNumber,
    ...(shown.shows('number') ? { external_number: call.to } : {}),
    // No telephony provider stands behind the sandbox, so these ids are its own.
    call_sid: call.callId,
    stream_sid: call.callId.replace(/^call_/, 'stream_'),
    ...(hasCarrierResult && !shown.isBare ? { call_result: course.result } : {}),
  };
}

function describeSocketFacts(facts: SocketFacts): Record<string, unknown> {
  const { feedback, contextualUpdates } = facts;
  const likes = feedback.filter(({ score }) => score === 'like').length;
  const dislikes = feedback.length - likes;
  return {
    authorization_method: facts.authorizationMethod,
    text_only: facts.textOnly,
    source_info: facts.sourceInfo,
    feedback: { type: 'thumbs', overall_score: overall(likes, dislikes), likes, dislikes },
    contextual_updates: contextualUpdates.map(({ at, text, contextId }) => ({
      time: new Date(at).toISOString(),
      text,
      context_id: contextId,
    })),
  };
}

function overall(likes: number, dislikes: number): 'like' | 'dislike' | null {
  if (likes === dislikes) return null;
  return likes > dislikes ? 'like' : 'dislike';
}

type Spent = Omit<TurnUsage, 'modelId' | 'latencyMs'> & { turns: number };

/** One credit is a hundredth of a cent; the unit is documented nowhere. */
const microDollarsPerCredit = 100;

/** LLM usage and cost so far; a model hosted by the client costs nothing. */
export function describeCharging(turns: readonly Turn[]): Record<string, unknown> {
  const models = [...usageByModel(turns)].map(([modelId, spent]) => ({ modelId, spent, microDollars: priceUsage(modelId, spent) }));
  const total = models.reduce((sum, { microDollars }) => sum + microDollars, 0);
  return {
    usage: {
      models: Object.fromEntries(
        models.map(({ modelId, spent, microDollars }) => [
          modelId,
          {
            input_tokens: spent.inputTokens,
            cached_input_tokens: spent.cachedInputTokens,
            output_tokens: spent.outputTokens,
            turns: spent.turns,
            fallback: spent.fallback,
            billed: findModel(modelId) !== undefined,
            cost_usd: microDollars / 1e6,
          },
        ]),
      ),
      cost_usd: total / 1e6,
    },
    cost: Math.ceil(total / microDollarsPerCredit),
    cost_fiat: total / 1e6,
    charging: {
      llm_price: total / 1e6,
      llm_charge: Math.ceil(total / microDollarsPerCredit),
      llm_usage: Object.fromEntries(models.map(({ modelId, spent }) => [modelId, describeTokens(spent)])),
    },
  };
}

function usageByModel(turns: readonly Turn[]): Map<string, Spent> {
  const byModel = new Map<string, Spent>();
  for (const { usage } of turns) {
    if (usage === undefined) continue;
    const before = byModel.get(usage.modelId);
    byModel.set(usage.modelId, {
      inputTokens: (before?.inputTokens ?? 0) + usage.inputTokens,
      cachedInputTokens: (before?.cachedInputTokens ?? 0) + usage.cachedInputTokens,
      outputTokens: (before?.outputTokens ?? 0) + usage.outputTokens,
      turns: (before?.turns ?? 0) + 1,
      fallback: before?.fallback === true || usage.fallback,
    });
  }
  return byModel;
}

export function innerTurn(turn: Turn, answeredAt: number, channel: string): Record<string, unknown> {
  const { usage, tools = [] } = turn;
  return {
    role: turn.speaker,
    time_in_call_secs: Math.max(0, Math.floor((turn.at - answeredAt) / 1000)),
    message: turn.text,
    interrupted: turn.interrupted === true,
    ...(turn.original === undefined ? {} : { original_message: turn.original }),
    source_medium: channel === 'phone' || turn.speaker === 'agent' ? 'audio' : 'text',
    tool_calls: tools.map(describeToolCall),
    tool_results: tools.filter(({ result }) => result !== null).map(describeToolResult),
    producing_llm: usage?.modelId ?? null,
    llm_usage: usage === undefined ? null : { model_usage: { [usage.modelId]: describeTokens(usage) } },
    conversation_turn_metrics: usage === undefined ? null : { metrics: metricsOf(usage) },
  };
}

function metricsOf({ latencyMs }: TurnUsage): Record<string, unknown> {
  return { convai_llm_service_ttfb: { elapsed_time: latencyMs / 1000 } };
}

type Tokens = Pick<TurnUsage, 'inputTokens' | 'cachedInputTokens' | 'outputTokens'>;

export function describeTokens({ inputTokens, cachedInputTokens, outputTokens }: Tokens): Record<string, unknown> {
  return {
    input: { tokens: inputTokens - cachedInputTokens },
    input_cache_read: { tokens: cachedInputTokens },
    output_total: { tokens: outputTokens },
  };
}

function describeToolCall({ toolCallId, name, parameters, result }: ToolUse): Record<string, unknown> {
  return { request_id: toolCallId, tool_name: name, params_as_json: JSON.stringify(parameters), tool_has_been_called: result !== null };
}

function describeToolResult({ toolCallId, name, result, isError }: ToolUse): Record<string, unknown> {
  return { request_id: toolCallId, tool_name: name, result_value: result, is_error: isError, tool_has_been_called: true };
}
