import { z } from 'zod';
import { contentWords } from '../core/conversation/hearing.ts';
import { readValue } from '../core/conversation/read-value.ts';
import type { Clock } from '../core/clock/clock.ts';
import type { Scheduler } from '../core/clock/scheduler.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';
import type { Outbox } from './outbox.ts';
import { Timer } from './timer.ts';

/** What is read of a tool parameter; one of another type is dropped. */
const parameter = z.looseObject({
  type: z.enum(['string', 'boolean', 'integer', 'number']),
  enum: z.array(z.string()).min(1).optional().catch(undefined),
});
/** What is read of a client tool; other fields are stored and ignored. */
const clientTool = z.looseObject({
  type: z.literal('client'),
  name: z.string().min(1),
  parameters: z.looseObject({ properties: z.record(z.string(), z.unknown()).catch({}) }).catch({ properties: {} }),
  expects_response: z.boolean().optional().catch(undefined),
  response_timeout_secs: z.number().min(1).max(120).nullish().catch(null),
});
export type ClientTool = z.infer<typeof clientTool>;

export function clientToolsOf(config: ConversationConfig): ClientTool[] {
  return (config.agent?.prompt?.tools ?? []).flatMap((tool) => clientTool.safeParse(tool).data ?? []);
}

/** The first tool whose whole name is spoken. */
export function toolNamedIn(userText: string, tools: readonly ClientTool[]): ClientTool | null {
  const spokenWords = new Set(contentWords(userText));
  const isNamed = ({ name }: ClientTool): boolean => {
    const words = contentWords(name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll(/[_-]+/g, ' '));
    return words.length > 0 && words.every((word) => spokenWords.has(word));
  };
  return tools.find(isNamed) ?? null;
}

/** Tool parameters found in the words, texts in quotation marks; others are omitted. */
export function parametersFrom(userText: string, { parameters: { properties } }: ClientTool): Record<string, unknown> {
  const values = Object.entries(properties).map(([name, property]) => {
    const { type, enum: choices } = parameter.safeParse(property).data ?? {};
    if (type === undefined) return [name, null];
    const isText = type === 'string' && choices === undefined;
    return [name, isText ? (quoted.exec(userText)?.groups?.['value'] ?? null) : readValue({ type, enum: choices }, userText)];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== null));
}

const quoted = /["“«„](?<value>[^"“”«»„]+)["”»“]/u;

export interface ToolResult {
  text: string;
  isError: boolean;
}

interface ClientToolParts {
  clock: Clock;
  scheduler: Scheduler;
  outbox: Outbox;
  nextEventId: () => number;
  /** Default time limit of a tool, service ms. */
  withinMs: number;
}

const longestResult = 20_000;

export class ClientTools {
  readonly #parts: ClientToolParts;
  readonly #open = new Map<string, (result: ToolResult) => void>();

  constructor(parts: ClientToolParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async ask(tool: ClientTool, toolCallId: string, parameters: Record<string, unknown>): Promise<ToolResult> {
    const { clock, scheduler, outbox, nextEventId, withinMs } = this.#parts;
    const call = { tool_name: tool.name, tool_call_id: toolCallId, parameters, event_id: nextEventId() };
    if (tool.expects_response === false) {
      outbox.send('client_tool_call', call);
      return { text: 'The client was asked and answers nothing.', isError: false };
    }
    const limitMs = tool.response_timeout_secs == null ? withinMs : tool.response_timeout_secs * 1_000;
    return new Promise((resolve) => {
      const timer = new Timer(scheduler);
      const settle = (result: ToolResult): void => {
        timer.clear();
        this.#open.delete(toolCallId);
        resolve(result);
      };
      this.#open.set(toolCallId, settle);
      timer.set(clock.now() + limitMs, () =>
        settle({ text: `${tool.name} gave no result within ${limitMs / 1000} seconds.`, isError: true }),
      );
      outbox.send('client_tool_call', call);
    });
  }

  /** A late or repeated result changes nothing. */
  answer(toolCallId: string, result: unknown, isError: boolean): void {
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    this.#open.get(toolCallId)?.({ text: text.slice(0, longestResult), isError });
  }

  stop(): void {
    for (const settle of this.#open.values()) settle({ text: 'The client has gone.', isError: true });
  }
}
