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
const contentPart = z.looseObject({ text: z.string().nullish() });
const words = z.looseObject({ content: z.union([z.string(), z.array(contentPart)]).nullish(), tool_calls: z.array(toolPart).nullish() });
/** Tolerant: servers that speak this contract differ in everything but what is read here. */
const answerPart = z.looseObject({
  choices: z
    .array(
      z.looseObject({ index: z.number().nullish(), delta: words.nullish(), message: words.nullish(), finish_reason: z.string().nullish() }),
    )
    .nullish(),
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

export class CompletionBuilder {
  #text = '';
  readonly #tools = new Map<number, { id: string | null; name: string; argumentsText: string }>();
  #finishReason: string | null = null;
  #usage: ReportedUsage | null = null;

  /** Throws `ModelFailure` when the part is no JSON of this contract, or an error. */
  add(json: string): void {
    const part = readPart(json);
    if (part.error != null) throw new ModelFailure('model_error', 'the model answered with an error object');
    if (part.usage != null) {
      const { prompt_tokens, completion_tokens, prompt_tokens_details } = part.usage;
      const cachedInputTokens = prompt_tokens_details?.cached_tokens ?? 0;
      this.#usage = { inputTokens: prompt_tokens, cachedInputTokens, outputTokens: completion_tokens };
    }
    const choice = part.choices?.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return;
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
    const { content, tool_calls } = choice.delta ?? choice.message ?? {};
    this.#text += typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');
    for (const [position, tool] of (tool_calls ?? []).entries()) this.#addTool(tool.index ?? position, tool);
  }

  get begun(): boolean {
    return this.#text.trim() !== '' || this.#tools.size > 0;
  }

  /** Throws `ModelFailure` when there was neither a word nor the end: a tool that was not offered is no answer. */
  build(): Completion {
    if (this.#text.trim() === '' && ![...this.#tools.values()].some(({ name }) => name === endCall))
      throw new ModelFailure('empty', 'the model answered without a word');
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
    throw new ModelFailure('malformed', 'the model answered something that is not JSON', { cause: error });
  }
  const parsed = answerPart.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ModelFailure('malformed', `the model's answer is no chat completion: ${issue?.path.join('.')} is not as agreed`);
}

function readParameters(text: string): Record<string, unknown> | null {
  const value = text.trim() === '' ? {} : parseJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

export interface StreamEvent {
  /** `message` when the sender named none. */
  event: string;
  data: string;
}

const knownFields = new Set(['data', 'event', 'id', 'retry']);

/** Reads server-sent events from text that arrives in pieces cut anywhere, with any of the three line ends. */
export class EventStreamReader {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #first = true;

  /** Events that are complete with this piece. Throws `ModelFailure` for a line that is no field of an event stream. */
  push(piece: string): StreamEvent[] {
    this.#rest += piece;
    if (this.#first && this.#rest !== '') {
      this.#first = false;
      if (this.#rest.startsWith('\uFEFF')) this.#rest = this.#rest.slice(1);
    }
    const events: StreamEvent[] = [];
    for (;;) {
      const end = this.#rest.search(/[\r\n]/);
      // A carriage return at the end may be half of a line end.
      if (end === -1 || (this.#rest[end] === '\r' && end === this.#rest.length - 1)) return events;
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (this.#rest.startsWith('\r\n', end) ? 2 : 1));
      const event = this.#take(line);
      if (event !== null) events.push(event);
    }
  }

  /** What was not closed by an empty line when the stream ended: some senders leave it out. */
  end(): StreamEvent[] {
    const last = this.#rest.replace(/\r$/, '');
    this.#rest = '';
    const events = [last === '' ? null : this.#take(last), this.#take('')];
    return events.filter((event) => event !== null);
  }

  #take(line: string): StreamEvent | null {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return null;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (!knownFields.has(field)) throw new ModelFailure('malformed', 'the stream has a line that is no field of an event (data: …)');
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#event = value;
    return null;
  }

  #dispatch(): StreamEvent | null {
    const event = { event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n') };
    const hasData = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    return hasData ? event : null;
  }
}
