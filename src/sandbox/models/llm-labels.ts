import { findModel } from './catalogue.ts';

export type ThinkingLevel = 'disabled' | 'low' | 'medium' | 'high';

/** Upstream's words (gaps A.4), including the contract's None, Low, Medium and High. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const lowTokens = 1_024;
const mediumTokens = 8_192;

/** A label in any case, or a token count (gaps A.4): 0 off, to 1,024 low, to 8,192 medium, above high. */
export function thinkingLevelOf(budget: string | number): ThinkingLevel {
  if (typeof budget === 'string') return budget.toLowerCase() as ThinkingLevel;
  if (budget === 0) return 'disabled';
  if (budget <= lowTokens) return 'low';
  return budget <= mediumTokens ? 'medium' : 'high';
}

export type TemperatureBand = 'Low' | 'Medium' | 'High';

/** Values between the contract's bands belong to the nearer one, from midway to the higher. */
export function temperatureBand(temperature: number): TemperatureBand {
  if (temperature < 0.35) return 'Low';
  return temperature < 0.75 ? 'Medium' : 'High';
}

export interface BackupChoice {
  /** The contract's Default, Custom or Disabled, or upstream's override (gaps A.4), in any case. */
  preference?: string | undefined;
  order?: string[] | undefined;
  /** The contract's Custom: an order of one. */
  model_id?: string | undefined;
}

export function plainBackup({ preference, order, model_id: modelId }: BackupChoice): BackupChoice {
  const chosen = preference?.toLowerCase();
  if (chosen === 'default' || chosen === 'disabled') return { preference: chosen };
  return { preference: 'override', order: modelId === undefined ? (order ?? []) : [modelId] };
}

/** Service ms for a model not in the catalogue. */
const unknownModelMs = 400;

const thinkingMs: Readonly<Record<ThinkingLevel, number>> = { disabled: 0, low: 500, medium: 1_500, high: 4_000 };

export function replyLatencyMs(modelId: string, thinking: ThinkingLevel): number {
  const model = findModel(modelId);
  if (model === undefined) return unknownModelMs + thinkingMs[thinking];
  return model.latencyMs + (model.supportsThinking ? thinkingMs[thinking] : 0);
}
