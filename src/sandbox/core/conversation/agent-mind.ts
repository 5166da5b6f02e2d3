import type { ToolUse, Turn, TurnUsage, Talk } from '../state/talk.ts';
import type { Call } from '../state/call.ts';

export interface AgentReply {
  text: string;
  ends: boolean;
  usage?: TurnUsage;
  tools?: readonly ToolUse[];
}

export interface BuiltInResponder {
  reply(turns: readonly Turn[]): AgentReply;
}

export interface ModelResponder {
  reply(turns: readonly Turn[]): Promise<AgentReply>;
}

/** No model answered and no backup may; the message is the call's termination reason. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable' as const;
}

/** Talks whose agent words come from elsewhere, unknown at dial time. */
export interface LiveTalks {
  wants(call: Call): boolean;
  /** Never rejects: if no model answers, the talk broke down. */
  hold(call: Call, answeredAt: number): Promise<Talk>;
  /** Ends a talk at `at`, its maximum duration. Returns what was said until then. */
  cutShort(call: Call, at: number): Talk;
}

export const noLiveTalks: LiveTalks = {
  wants: () => false,
  hold: () => Promise.reject(new Error('Nothing is installed that holds talks.')),
  cutShort: (_call, at) => ({ turns: [], endedAt: at, terminationReason: '', brokeDown: true }),
};
