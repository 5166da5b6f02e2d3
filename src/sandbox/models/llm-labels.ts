/** The contract's settings of the thinking budget. */
export type ThinkingLevel = 'disabled' | 'low' | 'medium' | 'high';

/** Upstream's words (gaps A.4), among which are the contract's None, Low, Medium and High. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

const lowTokens = 1_024;
const mediumTokens = 8_192;

/** A label in any case, or a number of tokens (gaps A.4): 0 is off, up to 1,024 low, up to 8,192 medium, more is high. */
export function thinkingLevelOf(budget: string | number): ThinkingLevel {
  if (typeof budget === 'string') return budget.toLowerCase() as ThinkingLevel;
  if (budget === 0) return 'disabled';
  if (budget <= lowTokens) return 'low';
  return budget <= mediumTokens ? 'medium' : 'high';
}

export type TemperatureBand = 'Low' | 'Medium' | 'High';

/** The contract's bands have room between them; what lies there belongs to the nearer one, and from midway on to the higher. */
export function temperatureBand(temperature: number): TemperatureBand {
  if (temperature < 0.35) return 'Low';
  return temperature < 0.75 ? 'Medium' : 'High';
}
