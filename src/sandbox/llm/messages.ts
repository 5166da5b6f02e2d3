import type { ToolUse, Turn } from '../core/state/talk.ts';
/** A message of the chat completions contract. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: readonly ChatToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ChatToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface ChatTool {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** The body of `POST /chat/completions`. */
export interface CompletionRequest {
  model: string;
  messages: readonly ChatMessage[];
  temperature?: number;
  max_tokens: number;
  stream: boolean;
  stream_options?: { include_usage: true };
  tools?: readonly ChatTool[];
  response_format?: { type: 'json_object' };
  user_id?: string;
  svc_extra_body?: Record<string, unknown>;
}

/** What a model is told of a conversation so far: the prompt, then every turn, with the tools that were used. */
export function messagesOf(prompt: string, turns: readonly Turn[]): ChatMessage[] {
  const system: ChatMessage[] = prompt === '' ? [] : [{ role: 'system', content: prompt }];
  return [...system, ...turns.flatMap(messagesOfTurn)];
}

/** A use of tools and what came of it. */
export function messagesOfTools(tools: readonly ToolUse[]): ChatMessage[] {
  if (tools.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: tools.map(({ toolCallId, name, parameters }) => ({
        id: toolCallId,
        type: 'function',
        function: { name, arguments: JSON.stringify(parameters) },
      })),
    },
    ...tools.map(({ toolCallId, result }): ChatMessage => ({
      role: 'tool',
      tool_call_id: toolCallId,
      content: result ?? '',
    })),
  ];
}

function messagesOfTurn({ speaker, text, tools = [] }: Turn): ChatMessage[] {
  const words: ChatMessage[] = text === '' ? [] : [{ role: speaker === 'user' ? 'user' : 'assistant', content: text }];
  return [...messagesOfTools(tools), ...words];
}
