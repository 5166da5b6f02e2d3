import { parseJson } from '../core/json.ts';
import { z } from 'zod';
import { ModelFailure } from './outbound.ts';

/** The tool with which a model ends a conversation, the only one that it is offered. */
export const endCall = 'end_call';

/** A tool that a model wants used; `parameters` is null where it did not send a JSON object. */
export interface RequestedTool {
  id: string | null;
  name: string;
  argumentsText: string;
  parameters: Record<string, unknown> | null;
}

export interface ReportedUsage {
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}

export interface Completion {
  text: string;
  tools: RequestedTool[];
  finishReason: string | null;
  usage: ReportedUsage | null;
}

const count = z.number().min(0).catch(0);
const toolPart = z.looseObject({
  index: z.number().int().min(0).max(127).nullish(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const delta = z.looseObject({ content: z.string().nullish(), tool_calls: z.array(toolPart).nullish() });
/** Tolerant: servers that speak this contract differ in everything but what is read here. */
const answerPart = z.looseObject({
  choices: z.array(z.looseObject({ index: z.number().nullish(), delta: delta.nullish(), finish_reason: z.string().nullish() })).nullish(),
  usage: z
    .looseObject({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.looseObject({ cached_tokens: count }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  error: z.unknown().optional(),
});

class CompletionBuilder {
  #text = '';
  readonly #tools = new Map<number, { id: string | null; name: string; argumentsText: string }>();
  #finishReason: string | null = null;
  #usage: ReportedUsage | null = null;

  /** Throws `ModelFailure` when the part is no JSON of this contract, or an error. */
  add(json: string): void {
    const part = readPart(json);
    if (part.error != null) throw new ModelFailure('failed', 'the model answered with an error object');
    if (part.usage != null) {
      const { prompt_tokens, completion_tokens, prompt_tokens_details } = part.usage;
      const cachedInputTokens = prompt_tokens_details?.cached_tokens ?? 0;
      this.#usage = { inputTokens: prompt_tokens, cachedInputTokens, outputTokens: completion_tokens };
    }
    const choice = part.choices?.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return;
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
    const { content, tool_calls } = choice.delta ?? {};
    this.#text += content ?? '';
    for (const [position, tool] of (tool_calls ?? []).entries()) this.#addTool(tool.index ?? position, tool);
  }

  get begun(): boolean {
    return this.#text.trim() !== '' || this.#tools.size > 0;
  }

  /** Throws `ModelFailure` when there was neither a word nor the end: a tool that was not offered is no answer. */
  build(): Completion {
    if (this.#text.trim() === '' && ![...this.#tools.values()].some(({ name }) => name === endCall))
      throw new ModelFailure('failed', 'the model answered without a word');
    const tools = [...this.#tools].sort(([left], [right]) => left - right);
    return {
      text: this.#text.trim(),
      tools: tools.map(([, tool]) => ({ ...tool, parameters: readParameters(tool.argumentsText) })),
      finishReason: this.#finishReason,
      usage: this.#usage,
    };
  }

  #addTool(index: number, part: z.infer<typeof toolPart>): void {
    const tool = this.#tools.get(index) ?? { id: null, name: '', argumentsText: '' };
    tool.id = part.id ?? tool.id;
    tool.name += part.function?.name ?? '';
    tool.argumentsText += part.function?.arguments ?? '';
    this.#tools.set(index, tool);
  }
}

function readPart(json: string): z.infer<typeof answerPart> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new ModelFailure('failed', 'the model answered something that is not JSON', { cause: error });
  }
  const parsed = answerPart.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ModelFailure('failed', `the model's answer is no chat completion: ${issue?.path.join('.')} is not as agreed`);
}

function readParameters(text: string): Record<string, unknown> | null {
  const value = text.trim() === '' ? {} : parseJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

/** Reads an answer that is streamed; `onWord` is called once it has begun, and with each part after that. Throws `ModelFailure`. */
export async function readCompletion(pieces: AsyncIterable<string>, onWord: () => void): Promise<Completion> {
  const builder = new CompletionBuilder();
  for await (const data of readEvents(pieces)) {
    // Some servers end without it. A stream that ends whole is taken at its word; one that is cut throws before this.
    if (data.trim() === '[DONE]') break;
    builder.add(data);
    if (builder.begun) onWord();
  }
  return builder.build();
}

const knownFields = new Set(['', 'data', 'event', 'id', 'retry']);

/** The data of server-sent events. Throws `ModelFailure` for an error event and for a line that is no field of an event stream. */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of readLines(pieces)) {
    const [field = '', value = ''] = line.split(/: ?(.*)/s, 2);
    if (!knownFields.has(field)) throw new ModelFailure('failed', 'the stream has a line that is no field of an event (data: …)');
    if (field === 'event' && value === 'error') throw new ModelFailure('failed', 'the model broke off with an error event');
    if (field === 'data') data.push(value);
    if (line !== '' || data.length === 0) continue;
    yield data.join('\n');
    data = [];
  }
  // Some senders leave out the empty line at the end.
  if (data.length > 0) yield data.join('\n');
}

/** Lines of a text that arrives in pieces cut anywhere, with any of the three line ends. */
async function* readLines(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    rest += piece;
    // A carriage return at the end may be half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest.replace(/\r$/, '');
}
