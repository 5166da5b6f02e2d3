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
