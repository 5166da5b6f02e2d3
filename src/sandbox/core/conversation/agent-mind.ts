import type { ToolUse, Turn, TurnUsage } from '../state/talk.ts';

export interface AgentReply {
  text: string;
  /** The agent ends the call after these words. */
  ends: boolean;
  usage?: TurnUsage;
  tools?: readonly ToolUse[];
}

/** What makes up the agent's words at once: the built-in agent. */
export interface BuiltInMind {
  reply(turns: readonly Turn[]): AgentReply;
}

/** What makes up the agent's words elsewhere: a model behind an address. */
export interface ModelMind {
  /** Throws `ModelUnavailable` when neither the model nor a backup answers. */
  reply(turns: readonly Turn[]): Promise<AgentReply>;
}

/** Thrown when an agent's model did not answer and no backup may. The message becomes the reason for which the call ended. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable' as const;
}
