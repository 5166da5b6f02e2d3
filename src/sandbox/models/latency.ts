import { findModel } from './catalogue.ts';
import type { ReasoningEffort, ThinkingLevel } from './llm-labels.ts';

/** Where the model is none of the service's, service milliseconds. */
const unknownModelMs = 400;

/** Service milliseconds. */
const thinkingMs: Readonly<Record<ThinkingLevel, number>> = { disabled: 0, low: 500, medium: 1_500, high: 4_000 };

const reasoningMs: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 200,
  low: 600,
  medium: 1_800,
  high: 5_000,
  xhigh: 9_000,
  max: 15_000,
};

export interface Effort {
  modelId: string;
  thinking: ThinkingLevel;
  reasoning: ReasoningEffort;
}

/** Service milliseconds until a model's first word. A model that cannot think is as fast with any budget. */
export function replyLatencyMs({ modelId, thinking, reasoning }: Effort): number {
  const model = findModel(modelId);
  const extra = thinkingMs[thinking] + reasoningMs[reasoning];
  if (model === undefined) return unknownModelMs + extra;
  return model.latencyMs + (model.supportsThinking ? extra : 0);
}
