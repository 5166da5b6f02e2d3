import { ModelUnavailable, type AgentReply, type BuiltInMind, type ModelMind } from '../core/conversation/agent-mind.ts';
import { builtInMindOf } from '../core/conversation/built-in-agent.ts';
import type { OwnModel } from '../core/conversation/effective-llm.ts';
import { tokensOf } from '../core/conversation/hosted-model.ts';
import { promptOf } from '../core/conversation/call-config.ts';
import { Random } from '../core/random.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Call } from '../core/state/call.ts';
import type { Turn, TurnUsage } from '../core/state/talk.ts';
import { customModelId } from '../models/catalogue.ts';
import type { AnsweredQuestion, ChatMessage, ModelCaller } from './model-caller.ts';
import { endCall } from './completion.ts';
import { ModelFailure } from './outbound.ts';

const longestReplyTokens = 1_024;
/** What an agent says at once is cut off here: about five minutes. */
const longestReply = 5_000;

const endCallTool = {
  type: 'function',
  function: {
    name: endCall,
    description: 'Ends the conversation. Say goodbye in `message`, and why it ends in `reason`.',
    parameters: { type: 'object', properties: { reason: { type: 'string' }, message: { type: 'string' } }, required: [] },
  },
} as const;

export interface ModelLink {
  settings: SandboxSettings;
  caller: ModelCaller;
  unavailableModels: ReadonlySet<string>;
  /** Aborted when nobody waits for the conversation any more. */
  signal: AbortSignal;
}

interface ModelTalk {
  call: Call;
  model: OwnModel;
  link: ModelLink;
}

/** What speaks for an agent through the model behind its own address; once that fails, the first backup holds the rest. */
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

async function ask({ call, model, link }: ModelTalk, turns: readonly Turn[]): Promise<AgentReply> {
  const { caller, signal } = link;
  const prompt = promptForModel(call);
  const answer = await caller.ask(
    {
      url: model.url,
      headers: model.headers,
      firstTokenMs: model.backupModelIds.length === 0 ? Infinity : model.cascadeMs,
      signal,
      body: {
        model: model.modelName,
        messages: messagesOf(prompt, turns),
        temperature: model.temperature,
        max_tokens: longestReplyTokens,
        stream: true,
        stream_options: { include_usage: true },
        tools: [endCallTool],
        ...(call.userId === undefined ? {} : { user_id: call.userId }),
        ...(call.modelExtraBody === undefined ? {} : { svc_extra_body: call.modelExtraBody }),
      },
    },
    call.conversationId,
  );
  const { text: said, tools } = answer.completion;
  const last = tools.find(({ name }) => name === endCall);
  const message = last?.parameters?.['message'];
  const words = (said === '' && typeof message === 'string' ? message : said).replaceAll(/\s+/g, ' ').trim();
  const text = (words === '' ? 'Goodbye.' : words).slice(0, longestReply);
  const usage = usageOf({ call, model, link }, turns, answer, { prompt, text });
  if (last === undefined) return { text, ends: false, usage };
  const { id, name, parameters } = last;
  const toolCallId = id ?? `call_${turns.length}`;
  return {
    text,
    ends: true,
    usage,
    tools: [{ toolCallId, name, parameters: parameters ?? {}, result: 'The conversation ends.', isError: false }],
  };
}

function messagesOf(prompt: string, turns: readonly Turn[]): ChatMessage[] {
  const system: ChatMessage[] = prompt === '' ? [] : [{ role: 'system', content: prompt }];
  const said = turns.filter(({ text }) => text !== '');
  return [...system, ...said.map(({ speaker, text }): ChatMessage => ({ role: speaker === 'user' ? 'user' : 'assistant', content: text }))];
}

/** As the model counts, else as it is estimated. */
function usageOf(
  { call, model, link: { settings } }: ModelTalk,
  turns: readonly Turn[],
  { completion, firstTokenMs }: AnsweredQuestion,
  { prompt, text }: { prompt: string; text: string },
): TurnUsage {
  const drawnMs = Math.round(new Random(settings.seed, call.conversationId, 'model', turns.length).between(300, 900));
  return {
    modelId: customModelId,
    inputTokens: tokensOf([prompt, ...turns.map((turn) => turn.text)].join(' ').length),
    cachedInputTokens: 0,
    outputTokens: tokensOf(text.length),
    ...completion.usage,
    latencyMs: model.thinkingMs + (settings.modelLatency === 'measured' ? firstTokenMs : drawnMs),
    fallback: false,
  };
}
