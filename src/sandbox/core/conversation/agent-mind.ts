import type { ToolUse, Turn, TurnUsage, Talk } from '../state/talk.ts';
import type { Call } from '../state/call.ts';

export interface AgentReply {
  text: string;
  ends: boolean;
  usage?: TurnUsage;
  tools?: readonly ToolUse[];
}

export interface BuiltInMind {
  reply(turns: readonly Turn[]): AgentReply;
}

export interface ModelMind {
  reply(turns: readonly Turn[]): Promise<AgentReply>;
}

/** Thrown when an agent's model did not answer and no backup may. The message becomes the reason for which the call ended. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable' as const;
}

/** Holds the talks whose agent's words come from elsewhere, so that they cannot be known when the call is dialled. */
export interface LiveTalks {
  wants(call: Call): boolean;
  /** Never rejects: a talk in which no model answers is one that broke down. */
  hold(call: Call, answeredAt: number): Promise<Talk>;
  /** Ends a talk that is being held, at `at`, since it has lasted as long as it may. Returns what was said until then. */
  cutShort(call: Call, at: number): Talk;
}

export const noLiveTalks: LiveTalks = {
  wants: () => false,
  hold: () => Promise.reject(new Error('Nothing is installed that holds talks.')),
  cutShort: (_call, at) => ({ turns: [], endedAt: at, terminationReason: '', brokeDown: true }),
};
