import { customModelId } from '../../models/catalogue.ts';
import { effectiveLlm, type EffectiveLlm } from './effective-llm.ts';
import { replyLatencyMs } from '../../models/latency.ts';
import type { Call } from '../state/call.ts';

/** The model behind an agent's own address, as it counts in one call. */
export type OwnModel = NonNullable<EffectiveLlm['custom']> &
  Pick<EffectiveLlm, 'temperature' | 'backupModelIds' | 'cascadeMs'> & {
    /** What the thinking budget adds to its latency, service milliseconds. */
    thinkingMs: number;
  };

/** Null when the agent speaks through a model of the service. */
export function ownModelOf({ agent, override }: Call): OwnModel | null {
  // Asked for every call there is, so settings are resolved only where it matters.
  const modelId = override?.agent?.llm?.model_id ?? agent?.config.agent?.llm?.model_id;
  if (agent === null || modelId !== customModelId) return null;
  const { custom, temperature, backupModelIds, cascadeMs, thinking } = effectiveLlm(agent.config, override);
  if (custom === null) return null;
  const thinkingMs = replyLatencyMs(customModelId, thinking) - replyLatencyMs(customModelId, 'disabled');
  return { ...custom, temperature, backupModelIds, cascadeMs, thinkingMs };
}

/** Whether the words of a call's agent come from a model behind an address. An answering machine gets a message that needs none. */
export function isHeldByModel(call: Call): boolean {
  return call.course?.result === 'answered' && !call.course.brokeDown && ownModelOf(call) !== null;
}
