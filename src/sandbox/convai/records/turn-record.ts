import type { ToolUse, Turn, TurnUsage } from '../../core/state/talk.ts';

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
  return {
    request_id: toolCallId,
    tool_name: name,
    params_as_json: JSON.stringify(parameters),
    tool_has_been_called: result !== null,
  };
}

function describeToolResult({ toolCallId, name, result, isError }: ToolUse): Record<string, unknown> {
  return {
    request_id: toolCallId,
    tool_name: name,
    result_value: result,
    is_error: isError,
    tool_has_been_called: true,
  };
}
