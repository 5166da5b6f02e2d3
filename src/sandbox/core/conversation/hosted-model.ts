import { findModel } from '../../models/catalogue.ts';
import { effectiveLlm, type EffectiveLlm } from './effective-llm.ts';
import { replyLatencyMs } from '../../models/llm-labels.ts';
import { Random } from '../random.ts';
import type { Call, CallCourse } from '../state/call.ts';
import type { Turn, TurnUsage } from '../state/talk.ts';

const breakdownMs = 1_500;
const charactersPerToken = 4;

/** The course with the model that speaks: the agent's own, else the first backup that is to be had, else the conversation breaks down. */
export function staffCourse(call: Call, course: CallCourse, unavailable: ReadonlySet<string>): CallCourse {
  if (unavailable.size === 0 || course.result !== 'answered' || course.answeredAt === null) return course;
  const { modelId, backupModelIds } = effectiveLlm(call.agent?.config ?? {}, call.override);
  if (!unavailable.has(modelId)) return course;
  const backup = backupModelIds.find((id) => !unavailable.has(id));
  if (backup !== undefined) return { ...course, backupModelId: backup };
  const others = backupModelIds.length === 0 ? 'it has no backup' : `neither were ${backupModelIds.join(', ')}`;
  return {
    ...course,
    result: 'failed',
    endedAt: Math.round(course.answeredAt + breakdownMs),
    analysisMs: 0,
    brokeDown: true,
    terminationReason: `llm_unavailable: The language model ${modelId} was not available, and ${others}.`,
  };
}

/** Counts what the model of the service was asked and gave in one turn; the same turn always counts the same. */
export type UsageCounter = (turns: readonly Turn[], text: string) => TurnUsage;

export function countUsage(call: Call, prompt: string): UsageCounter {
  const llm = effectiveLlm(call.agent?.config ?? {}, call.override);
  const backup = call.course?.backupModelId;
  const modelId = backup ?? llm.modelId;
  return (turns, text) => {
    const seenBefore = turns.slice(0, -2);
    const asked = turns.some(({ usage }) => usage !== undefined);
    const inputTokens = tokensIn(prompt, turns);
    const cachedInputTokens = asked && keepsInput(modelId) ? tokensIn(prompt, seenBefore) : 0;
    return {
      modelId,
      inputTokens,
      cachedInputTokens,
      outputTokens: tokensOf(text.length),
      latencyMs: latencyOf(call, { ...llm, modelId }, turns.length),
      fallback: backup !== undefined,
    };
  };
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

export function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
