import { findModel } from '../../models/catalogue.ts';
import { effectiveLlm, type EffectiveLlm } from './effective-llm.ts';
import { replyLatencyMs } from '../../models/llm-labels.ts';
import { Random } from '../random.ts';
import type { Call } from '../state/call.ts';
import type { Turn, TurnUsage } from '../state/talk.ts';

const charactersPerToken = 4;

/** Counts what the model of the service was asked and gave in one turn; the same turn always counts the same. */
export type UsageCounter = (turns: readonly Turn[], text: string) => TurnUsage;

export function countUsage(call: Call, prompt: string): UsageCounter {
  const llm = effectiveLlm(call.agent?.config ?? {}, call.override);
  const backup = call.course?.backupModelId;
  const modelId = backup ?? llm.modelId;
  return (turns, text) => {
    const asked = turns.some(({ usage }) => usage !== undefined);
    return {
      ...estimateUsage(prompt, turns, text, { modelId, latencyMs: latencyOf(call, { ...llm, modelId }, turns.length) }),
      cachedInputTokens: asked && keepsInput(modelId) ? tokensIn(prompt, turns.slice(0, -2)) : 0,
      fallback: backup !== undefined,
    };
  };
}

export function estimateUsage(
  prompt: string,
  turns: readonly Turn[],
  text: string,
  facts: Pick<TurnUsage, 'modelId' | 'latencyMs'>,
): TurnUsage {
  const tokens = { inputTokens: tokensIn(prompt, turns), cachedInputTokens: 0, outputTokens: tokensOf(text.length) };
  return { ...facts, ...tokens, fallback: false };
}

function latencyOf({ conversationId }: Call, { modelId, thinking }: EffectiveLlm, turn: number): number {
  const usual = replyLatencyMs(modelId, thinking);
  return Math.round(usual * new Random(conversationId, 'latency', turn).between(0.8, 1.3));
}

function keepsInput(modelId: string): boolean {
  const prices = findModel(modelId)?.prices;
  return prices !== undefined && prices.cachedInput < prices.input;
}

function tokensIn(prompt: string, turns: readonly Turn[]): number {
  return tokensOf(turns.reduce((sum, { text }) => sum + text.length, prompt.length));
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
