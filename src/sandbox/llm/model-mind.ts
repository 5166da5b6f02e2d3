import type { AnsweredQuestion, ModelCaller } from './model-caller.ts';
import type { Completion, ReportedUsage, RequestedTool } from './completion.ts';
import type { ChatMessage } from './completion-request.ts';
import { ModelFailure } from './model-failure.ts';
import { customModelId } from '../models/catalogue.ts';
import { Random } from '../core/random.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import {
  ModelUnavailable,
  type AgentReply,
  type BuiltInMind,
  type ModelMind,
} from '../core/conversation/agent-mind.ts';
import { messagesOf, messagesOfTools } from './model-messages.ts';
import type { OwnModel } from '../core/conversation/model-settings.ts';
import { describeTools, endCall, toolsOf, type ToolRunner } from './model-tools.ts';
import type { ToolUse, Turn } from '../core/state/talk.ts';

/** How often within one turn a model may use tools before it has to speak. */
const mostToolRounds = 3;
const longestReplyTokens = 1_024;
/** What an agent says at once is cut off here: about five minutes. */
const longestReply = 5_000;

export interface ModelMindParts {
  settings: Pick<SandboxSettings, 'seed' | 'modelLatency' | 'modelStream'>;
  caller: ModelCaller;
  /** Asked for when the model gives no answer: who speaks instead, or null when nobody may. */
  standIn: () => BuiltInMind | null;
  tools: ToolRunner;
}

export interface ModelTalk {
  conversationId: string;
  /** The agent's settings with those of the conversation on top. */
  config: ConversationConfig;
  model: OwnModel;
  /** With its variables filled in. */
  prompt: string;
  userId?: string | undefined;
  extraBody?: Record<string, unknown> | undefined;
  /** Aborted when nobody waits for the conversation any more. */
  signal: AbortSignal;
}

/** An agent that speaks through the model behind its own address. Once that fails, the backup holds the rest of the conversation. */
export function createModelMind(parts: ModelMindParts, talk: ModelTalk): ModelMind {
  const { backupModelIds, cascadeMs } = talk.model;
  const firstTokenMs = backupModelIds.length === 0 ? Infinity : cascadeMs;
  let standIn: BuiltInMind | null = null;
  return {
    async reply(turns) {
      if (standIn !== null) return standIn.reply(turns);
      const startedAt = performance.now();
      try {
        return await ask(parts, talk, turns, firstTokenMs);
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        standIn = error.code === 'stopped' ? null : parts.standIn();
        if (standIn === null) throw unavailable(error);
        return delay(standIn.reply(turns), parts, Math.round(performance.now() - startedAt));
      }
    },
  };
}

function unavailable(failure: ModelFailure): ModelUnavailable {
  const kind = failure.code === 'timeout' ? 'llm_timeout' : 'custom_llm_error';
  return new ModelUnavailable(`${kind}: ${failure.message}`, { cause: failure });
}

/** The first words of a backup come after what was waited for the model. */
function delay(reply: AgentReply, { settings }: ModelMindParts, waitedMs: number): AgentReply {
  if (reply.usage === undefined || settings.modelLatency === 'drawn') return reply;
  return { ...reply, usage: { ...reply.usage, latencyMs: reply.usage.latencyMs + waitedMs } };
}

/** One turn of the agent: asks, runs the tools that the model wants, asks again with what came of them. */
async function ask(
  parts: ModelMindParts,
  talk: ModelTalk,
  turns: readonly Turn[],
  firstTokenMs: number,
): Promise<AgentReply> {
  const tools = toolsOf(talk.config);
  const messages: ChatMessage[] = messagesOf(talk.prompt, turns);
  const used: ToolUse[] = [];
  const said: string[] = [];
  const answers: AnsweredQuestion[] = [];
  for (let round = 0; ; round += 1) {
    const answer = await parts.caller.ask(
      {
        url: talk.model.url,
        headers: talk.model.headers,
        firstTokenMs,
        signal: talk.signal,
        body: {
          model: talk.model.modelName,
          messages,
          temperature: talk.model.temperature,
          max_tokens: longestReplyTokens,
          stream: parts.settings.modelStream,
          ...(parts.settings.modelStream ? { stream_options: { include_usage: true } } : {}),
          tools: describeTools(tools),
          ...(talk.userId === undefined ? {} : { user_id: talk.userId }),
          ...(talk.extraBody === undefined ? {} : { svc_extra_body: talk.extraBody }),
        },
      },
      { conversationId: talk.conversationId, purpose: 'reply' },
    );
    answers.push(answer);
    const { completion } = answer;
    if (completion.text !== '') said.push(completion.text);
    const uses = completion.tools.map((tool, index) => toolUse(tool, `call_${turns.length}_${round}_${index}`));
    const last = uses.find(({ name }) => name === endCall);
    if (last !== undefined || uses.length === 0) {
      const ending = last === undefined ? [] : [{ ...last, result: 'The conversation ends.' }];
      const text = wordsOf(said, last, completion);
      return finish(parts, talk, turns, { text, ends: last !== undefined, tools: [...used, ...ending] }, answers);
    }
    if (round === mostToolRounds)
      throw new ModelFailure('tool_rounds', `the model used tools more than ${mostToolRounds} times in one turn`);
    const results = await Promise.all(uses.map((use, index) => run(parts, talk, use, completion.tools[index])));
    used.push(...results);
    messages.push(...messagesOfTools(results));
  }
}

function toolUse(tool: RequestedTool, fallbackId: string): ToolUse {
  return {
    toolCallId: tool.id ?? fallbackId,
    name: tool.name,
    parameters: tool.parameters ?? {},
    result: null,
    isError: false,
  };
}

async function run(
  { tools }: ModelMindParts,
  { config, signal }: ModelTalk,
  use: ToolUse,
  requested: RequestedTool | undefined,
): Promise<ToolUse> {
  const tool = toolsOf(config).find(({ name }) => name === use.name);
  if (tool === undefined) return { ...use, result: `There is no tool ${use.name}.`, isError: true };
  if (requested?.parameters == null) return { ...use, result: 'The parameters must be a JSON object.', isError: true };
  const { text, isError } = await tools.run(tool, use.parameters, signal);
  return { ...use, result: text, isError };
}

/** What a model that ends the call says: its words, else those that it gave to the tool. */
function wordsOf(said: readonly string[], last: ToolUse | undefined, completion: Completion): string {
  const message = last?.parameters.message;
  const farewell = completion.text === '' && typeof message === 'string' ? [message] : [];
  const text = [...said, ...farewell].join(' ').replaceAll(/\s+/g, ' ').trim();
  return (text === '' ? 'Goodbye.' : text).slice(0, longestReply);
}

function finish(
  { settings }: ModelMindParts,
  { conversationId, model, prompt }: ModelTalk,
  turns: readonly Turn[],
  reply: AgentReply,
  answers: readonly AnsweredQuestion[],
): AgentReply {
  const reported = answers.map(({ completion }) => completion.usage);
  const counted = estimateTokens([prompt, ...turns.map(({ text }) => text)], reply.text);
  const sum = (field: 'inputTokens' | 'cachedInputTokens' | 'outputTokens'): number =>
    reported.reduce((total, usage) => total + (usage?.[field] ?? counted[field]), 0);
  const measuredMs =
    answers.slice(0, -1).reduce((total, { durationMs }) => total + durationMs, 0) + (answers.at(-1)?.firstTokenMs ?? 0);
  const drawnMs = Math.round(new Random(settings.seed, conversationId, 'model', turns.length).between(300, 900));
  return {
    ...reply,
    usage: {
      modelId: customModelId,
      inputTokens: sum('inputTokens'),
      cachedInputTokens: sum('cachedInputTokens'),
      outputTokens: sum('outputTokens'),
      latencyMs: model.thinkingMs + (settings.modelLatency === 'measured' ? measuredMs : drawnMs),
      fallback: false,
    },
  };
}

/** Where the model does not count: four characters to a token. */
function estimateTokens(heard: readonly string[], said: string): ReportedUsage {
  const tokens = (text: string): number => Math.ceil(text.length / 4);
  return { inputTokens: tokens(heard.join(' ')), cachedInputTokens: 0, outputTokens: tokens(said) };
}
