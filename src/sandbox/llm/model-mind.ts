import { tokensOf } from '../core/conversation/hosted-model.ts';
import type { AnsweredQuestion, ModelCaller } from './model-caller.ts';
import type { Completion, ReportedUsage, RequestedTool } from './completion.ts';
import { type ChatMessage, messagesOf, messagesOfTools } from './messages.ts';
import { ModelFailure } from './model-failure.ts';
import { customModelId } from '../models/catalogue.ts';
import { Random } from '../core/random.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import { ModelUnavailable, type AgentReply, type BuiltInMind, type ModelMind } from '../core/conversation/agent-mind.ts';
import type { OwnModel } from '../core/conversation/effective-llm.ts';
import { describeTools, endCall, toolsOf, type ToolRunner } from './model-tools.ts';
import type { ToolUse, Turn } from '../core/state/talk.ts';
import type { Call } from '../core/state/call.ts';
import { builtInMindOf } from '../core/conversation/built-in-agent.ts';
import { configOf } from '../core/conversation/call-config.ts';
import { promptOf } from '../core/conversation/variables.ts';

/** How often within one turn a model may use tools before it has to speak. */
const mostToolRounds = 3;
const longestReplyTokens = 1_024;
/** What an agent says at once is cut off here: about five minutes. */
const longestReply = 5_000;

export interface ModelLink {
  settings: SandboxSettings;
  caller: ModelCaller;
  /** Models of the service that give no answers now. */
  unavailableModels: ReadonlySet<string>;
  /** How tools are run where the conversation is held. */
  tools: ToolRunner;
  /** Aborted when nobody waits for the conversation any more. */
  signal: AbortSignal;
}

interface ModelTalk {
  call: Call;
  model: OwnModel;
  link: ModelLink;
}

/**
 * What speaks for the agent of one call through the model behind its own address, by phone or over a socket. Once that fails, the first
 * backup that is to be had holds the rest of the conversation, as which the built-in agent speaks.
 */
export function modelMindOf(call: Call, model: OwnModel, link: ModelLink): ModelMind {
  let standIn: BuiltInMind | null = null;
  return {
    async reply(turns) {
      if (standIn !== null) return standIn.reply(turns);
      const startedAt = performance.now();
      try {
        return await ask({ call, model, link }, turns);
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        standIn = error.code === 'stopped' ? null : standInFor(call, model, link.unavailableModels);
        if (standIn === null) throw unavailable(error);
        return delay(standIn.reply(turns), link, Math.round(performance.now() - startedAt));
      }
    },
  };
}

function standInFor(call: Call, model: OwnModel, unavailable: ReadonlySet<string>): BuiltInMind | null {
  const backupModelId = model.backupModelIds.find((id) => !unavailable.has(id));
  if (backupModelId === undefined || call.course === null) return null;
  return builtInMindOf({ ...call, course: { ...call.course, backupModelId } });
}

/** The prompt of a call, and what the client has told since (gaps A.9: `contextual_update`); of several under one id the last counts. */
function promptForModel(call: Call): string {
  const updates = call.socket?.contextualUpdates ?? [];
  const context = updates
    .filter(({ contextId }, index) => contextId === null || updates.findLastIndex((other) => other.contextId === contextId) === index)
    .map(({ text }) => `Context: ${text}`);
  return [promptOf(call), ...context].filter((part) => part !== '').join('\n\n');
}

function unavailable(failure: ModelFailure): ModelUnavailable {
  const kind = failure.code === 'timeout' ? 'llm_timeout' : 'custom_llm_error';
  return new ModelUnavailable(`${kind}: ${failure.message}`, { cause: failure });
}

/** The first words of a backup come after what was waited for the model. */
function delay(reply: AgentReply, { settings }: ModelLink, waitedMs: number): AgentReply {
  if (reply.usage === undefined || settings.modelLatency === 'drawn') return reply;
  return { ...reply, usage: { ...reply.usage, latencyMs: reply.usage.latencyMs + waitedMs } };
}

/** One turn of the agent: asks, runs the tools that the model wants, asks again with what came of them. */
async function ask(talk: ModelTalk, turns: readonly Turn[]): Promise<AgentReply> {
  const { call, model, link } = talk;
  const { modelStream } = link.settings;
  const tools = toolsOf(configOf(call));
  const messages: ChatMessage[] = messagesOf(promptForModel(call), turns);
  const used: ToolUse[] = [];
  const said: string[] = [];
  const answers: AnsweredQuestion[] = [];
  for (let round = 0; ; round += 1) {
    const answer = await link.caller.ask(
      {
        url: model.url,
        headers: model.headers,
        firstTokenMs: model.backupModelIds.length === 0 ? Infinity : model.cascadeMs,
        signal: link.signal,
        body: {
          model: model.modelName,
          messages,
          temperature: model.temperature,
          max_tokens: longestReplyTokens,
          stream: modelStream,
          ...(modelStream ? { stream_options: { include_usage: true } } : {}),
          tools: describeTools(tools),
          ...(call.userId === undefined ? {} : { user_id: call.userId }),
          ...(call.modelExtraBody === undefined ? {} : { svc_extra_body: call.modelExtraBody }),
        },
      },
      { conversationId: call.conversationId, purpose: 'reply' },
    );
    answers.push(answer);
    const { completion } = answer;
    if (completion.text !== '') said.push(completion.text);
    const uses = completion.tools.map((tool, index) => toolUse(tool, `call_${turns.length}_${round}_${index}`));
    const last = uses.find(({ name }) => name === endCall);
    if (last !== undefined || uses.length === 0) {
      const ending = last === undefined ? [] : [{ ...last, result: 'The conversation ends.' }];
      const text = wordsOf(said, last, completion);
      return finish(talk, turns, { text, ends: last !== undefined, tools: [...used, ...ending] }, answers);
    }
    if (round === mostToolRounds)
      throw new ModelFailure('tool_rounds', `the model used tools more than ${mostToolRounds} times in one turn`);
    const results = await Promise.all(uses.map((use, index) => run(talk, use, completion.tools[index])));
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

async function run({ call, link }: ModelTalk, use: ToolUse, requested?: RequestedTool): Promise<ToolUse> {
  const tool = toolsOf(configOf(call)).find(({ name }) => name === use.name);
  if (tool === undefined) return { ...use, result: `There is no tool ${use.name}.`, isError: true };
  if (requested?.parameters == null) return { ...use, result: 'The parameters must be a JSON object.', isError: true };
  const { text, isError } = await link.tools(tool, use.parameters, link.signal);
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
  { call, model, link: { settings } }: ModelTalk,
  turns: readonly Turn[],
  reply: AgentReply,
  answers: readonly AnsweredQuestion[],
): AgentReply {
  const reported = answers.map(({ completion }) => completion.usage);
  // Where the model does not count.
  const counted: ReportedUsage = {
    inputTokens: tokensOf([promptForModel(call), ...turns.map(({ text }) => text)].join(' ').length),
    cachedInputTokens: 0,
    outputTokens: tokensOf(reply.text.length),
  };
  const sum = (field: 'inputTokens' | 'cachedInputTokens' | 'outputTokens'): number =>
    reported.reduce((total, usage) => total + (usage?.[field] ?? counted[field]), 0);
  const measuredMs = answers.slice(0, -1).reduce((total, { durationMs }) => total + durationMs, 0) + (answers.at(-1)?.firstTokenMs ?? 0);
  const drawnMs = Math.round(new Random(settings.seed, call.conversationId, 'model', turns.length).between(300, 900));
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
