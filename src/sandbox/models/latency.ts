import { findModel } from './catalogue.ts';
import type { ThinkingLevel } from './llm-labels.ts';

/** Where the model is none of the service's, service milliseconds. */
const unknownModelMs = 400;

/** Service milliseconds. */
const thinkingMs: Readonly<Record<ThinkingLevel, number>> = { disabled: 0, low: 500, medium: 1_500, high: 4_000 };

/** Service milliseconds until a model's first word. A model that cannot think is as fast with any budget. */
export function replyLatencyMs(modelId: string, thinking: ThinkingLevel): number {
  const model = findModel(modelId);
  if (model === undefined) return unknownModelMs + thinkingMs[thinking];
  return model.latencyMs + (model.supportsThinking ? thinkingMs[thinking] : 0);
}
