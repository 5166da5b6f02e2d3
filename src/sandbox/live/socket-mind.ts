import type { AgentReply } from '../core/conversation/agent-mind.ts';
import { builtInResponderOf } from '../core/conversation/built-in-agent.ts';
import { configOf } from '../core/conversation/call-config.ts';
import { modelResponderOf } from '../llm/model-talks.ts';
import { ownModelOf } from '../core/conversation/effective-llm.ts';
import type { Turn } from '../core/state/talk.ts';
import { Random } from '../core/random.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Call } from '../core/state/call.ts';
import { clientToolsOf, parametersFrom, toolNamedIn, type ClientTools } from './client-tools.ts';

export interface SocketReply extends AgentReply {
  /** Service ms between the end of the words heard and the reply. */
  pauseMs: number;
}

export interface SocketResponder {
  reply(turns: readonly Turn[]): Promise<SocketReply>;
}

/** The agent's own model, else the built-in agent with the client's tools. */
export function socketResponderOf(call: Call, settings: SandboxSettings, tools: ClientTools, signal: AbortSignal): SocketResponder {
  const model = ownModelOf(call);
  if (model !== null) {
    const responder = modelResponderOf(call, model, settings, signal);
    // The model's own delay was the pause.
    return { reply: async (turns) => ({ ...(await responder.reply(turns)), pauseMs: 0 }) };
  }
  const builtIn = builtInResponderOf(call);
  const known = clientToolsOf(configOf(call));
  const speak = (turns: readonly Turn[]): SocketReply => {
    const reply = builtIn.reply(turns);
    const random = new Random(settings.seed, call.conversationId, 'pauses', turns.length);
    return { ...reply, pauseMs: reply.usage?.latencyMs ?? Math.round(random.between(300, 900)) };
  };
  return {
    async reply(turns) {
      const userText = wordsSinceAgent(turns);
      const tool = toolNamedIn(userText, known);
      if (tool === null) return speak(turns);
      const toolCallId = `tool_${turns.length}`;
      const parameters = parametersFrom(userText, tool);
      const { text, isError } = await tools.ask(tool, toolCallId, parameters);
      const use = { toolCallId, name: tool.name, parameters, result: text, isError };
      const reply = speak(turns);
      return { ...reply, text: withResult(reply, text, isError), tools: [...(reply.tools ?? []), use] };
    },
  };
}

function wordsSinceAgent(turns: readonly Turn[]): string {
  const last = turns.findLastIndex(({ speaker }) => speaker === 'agent');
  return turns
    .slice(last + 1)
    .map(({ text }) => text)
    .join(' ');
}

const longestSpokenResult = 300;

/** Says the tool's result, then continues with the planned reply. */
function withResult({ text }: AgentReply, result: string, isError: boolean): string {
  if (isError) return `I am sorry, that did not work. ${text}`;
  const spoken = result.trim().slice(0, longestSpokenResult);
  return spoken === '' ? `That is done. ${text}` : `${/[.!?]$/.test(spoken) ? spoken : `${spoken}.`} ${text}`;
}
