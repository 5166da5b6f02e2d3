import {
  type LiveTalks,
  ModelUnavailable,
  type AgentReply,
  type BuiltInResponder,
  type ModelResponder,
} from '../core/conversation/agent-mind.ts';
import { converseWithModel, talkUntil } from '../core/conversation/converse.ts';
import { estimateUsage, isHeldByModel, ownModelOf, type OwnModel } from '../core/conversation/effective-llm.ts';
import { setUpTalk } from '../core/conversation/talk-of.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Call } from '../core/state/call.ts';
import type { Turn } from '../core/state/talk.ts';
import { builtInResponderOf } from '../core/conversation/built-in-agent.ts';
import { promptOf } from '../core/conversation/call-config.ts';
import { Random } from '../core/random.ts';
import { customModelId } from '../models/catalogue.ts';
import { askModel, endCall, ModelFailure } from './ask-model.ts';

export interface ModelTalks extends LiveTalks {
  stop(): void;
}

/** Talks of agents with models at their own addresses. */
export function createModelTalks(settings: SandboxSettings): ModelTalks {
  const held = new Map<Call, { turns: readonly Turn[]; abort: AbortController }>();
  return {
    wants: isHeldByModel,
    async hold(call, answeredAt) {
      const talk = { turns: [] as readonly Turn[], abort: new AbortController() };
      held.set(call, talk);
      try {
        const { course } = call;
        const model = ownModelOf(call);
        if (course === null || model === null) throw new Error(`Call ${call.callId} is not held by a model of its agent.`);
        // No filler: the model would have to know of it.
        const setup = { ...setUpTalk(settings.seed, call, course, answeredAt), leastMs: 0 };
        const responder = modelResponderOf(call, model, settings, talk.abort.signal);
        return await converseWithModel(setup, responder, (turns) => (talk.turns = turns));
      } catch (error) {
        // Only this call waits for the error, and one conversation must not crash the service.
        const reason = `internal_error: ${error instanceof Error ? error.name : 'unknown'}`;
        return { turns: [], endedAt: answeredAt, terminationReason: reason, brokeDown: true };
      } finally {
        if (held.get(call) === talk) held.delete(call);
      }
    },
    cutShort(call, at) {
      const talk = held.get(call);
      held.delete(call);
      talk?.abort.abort();
      return talkUntil(at, talk?.turns ?? []);
    },
    stop() {
      for (const { abort } of held.values()) abort.abort();
    },
  };
}

const longestReplyTokens = 1_024;
/** Longest reply, about five minutes; the rest is cut. */
const longestReply = 5_000;
/** Real ms of silence allowed to a model without a backup (gaps A.11). */
const longestSilenceMs = 20_000;

const endCallTool = {
  type: 'function',
  function: {
    name: endCall,
    description: 'Ends the conversation. Say goodbye in `message`, and why it ends in `reason`.',
    parameters: { type: 'object', properties: { reason: { type: 'string' }, message: { type: 'string' } }, required: [] },
  },
} as const;

/** The agent's own model; once it fails, its backup takes the rest. */
export function modelResponderOf(call: Call, model: OwnModel, settings: SandboxSettings, signal: AbortSignal): ModelResponder {
  let standIn: BuiltInResponder | null = null;
  return {
    async reply(turns) {
      if (standIn !== null) return standIn.reply(turns);
      try {
        return await ask(call, model, settings, turns, signal);
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        const [backupModelId] = model.backupModelIds;
        if (signal.aborted || backupModelId === undefined || call.course === null)
          throw new ModelUnavailable(`custom_llm_error: ${error.message}`, { cause: error });
        standIn = builtInResponderOf({ ...call, course: { ...call.course, backupModelId } });
        return standIn.reply(turns);
      }
    },
  };
}

async function ask(
  call: Call,
  model: OwnModel,
  settings: SandboxSettings,
  turns: readonly Turn[],
  signal: AbortSignal,
): Promise<AgentReply> {
  const prompt = promptForModel(call);
  const spokenTurns = turns.filter(({ text }) => text !== '');
  const messages = spokenTurns.map(({ speaker, text }) => ({ role: speaker === 'user' ? 'user' : 'assistant', content: text }));
  const body = {
    model: model.modelName,
    messages: prompt === '' ? messages : [{ role: 'system', content: prompt }, ...messages],
    temperature: model.temperature,
    max_tokens: longestReplyTokens,
    stream: true,
    tools: [endCallTool],
    ...(call.userId === undefined ? {} : { user_id: call.userId }),
    ...(call.modelExtraBody === undefined ? {} : { svc_extra_body: call.modelExtraBody }),
  };
  const silenceMs = model.backupModelIds.length === 0 ? longestSilenceMs : model.cascadeMs;
  const { text: words, end } = await askModel({ url: model.url, headers: model.headers, body, silenceMs }, settings.outbound, signal);
  const farewell = typeof end?.['message'] === 'string' ? end['message'] : '';
  const text = ((words.trim() || farewell).replaceAll(/\s+/g, ' ').trim() || 'Goodbye.').slice(0, longestReply);
  const drawnMs = Math.round(new Random(settings.seed, call.conversationId, 'model', turns.length).between(300, 900));
  const usage = estimateUsage(prompt, turns, text, { modelId: customModelId, latencyMs: model.thinkingMs + drawnMs });
  if (end === null) return { text, ends: false, usage };
  const use = { toolCallId: `call_${turns.length}`, name: endCall, parameters: end, result: 'The conversation ends.', isError: false };
  return { text, ends: true, usage, tools: [use] };
}

/** Prompt plus the client's updates (gaps A.9: `contextual_update`); the last one per id counts. */
function promptForModel(call: Call): string {
  const updates = call.socket?.contextualUpdates ?? [];
  const context = updates
    .filter(({ contextId }, index) => contextId === null || updates.findLastIndex((other) => other.contextId === contextId) === index)
    .map(({ text }) => `Context: ${text}`);
  return [promptOf(call), ...context].filter((part) => part !== '').join('\n\n');
}
