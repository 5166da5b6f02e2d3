import type { ChatMessage } from './completion-request.ts';
import type { ToolUse, Turn } from '../core/state/talk.ts';

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
