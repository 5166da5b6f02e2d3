import { findModel } from './catalogue.ts';

export interface TokenUsage {
  /** All of the input, cached or not. */
  inputTokens: number;
  /** How many of `inputTokens` the model had seen before. */
  cachedInputTokens: number;
  outputTokens: number;
}

/** What tokens cost in whole micro-dollars; nothing for a model that the service does not bill: `custom`, or an unknown one. */
export function priceUsage(modelId: string, usage: TokenUsage): number {
  const model = findModel(modelId);
  if (model === undefined) return 0;
  const { input, cachedInput, output } = model.prices;
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  // USD per million tokens is micro-dollars per token.
  return Math.round((usage.inputTokens - cached) * input + cached * cachedInput + usage.outputTokens * output);
}
