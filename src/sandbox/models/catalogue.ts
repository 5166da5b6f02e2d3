/** USD per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** Previously seen input; costs the same as other input without a cache. */
  readonly cachedInput: number;
}

export interface LanguageModel {
  readonly modelId: string;
  readonly prices: ModelPrices;
  /** Service ms to the first word, without thinking. */
  readonly latencyMs: number;
  readonly supportsThinking: boolean;
}

/** Three open models hosted by the service and those of three companies; names and figures are made up. */
const rows: readonly (readonly [
  modelId: string,
  input: number,
  cachedInput: number,
  output: number,
  latencyMs: number,
  thinks: boolean,
])[] = [
  ['svc_open_small', 0.1, 0.1, 0.2, 180, false],
  ['svc_open_medium', 0.2, 0.2, 0.6, 260, false],
  ['svc_open_large', 0.4, 0.1, 1.6, 380, true],
  ['search_flash_lite', 0.1, 0.025, 0.4, 240, true],
  ['search_flash', 0.3, 0.075, 2.5, 320, true],
  ['search_flash_previous', 0.15, 0.0375, 0.6, 300, false],
  ['search_pro', 1.25, 0.31, 10, 620, true],
  ['search_pro_previous', 1.25, 1.25, 5, 640, false],
  ['search_ultra', 5, 1.25, 20, 950, true],
  ['lab_one_nano', 0.1, 0.025, 0.4, 230, false],
  ['lab_one_nano_next', 0.05, 0.005, 0.4, 260, true],
  ['lab_one_mini', 0.4, 0.1, 1.6, 300, false],
  ['lab_one_mini_next', 0.25, 0.025, 2, 340, true],
  ['lab_one_turbo', 10, 10, 30, 700, false],
  ['lab_one_standard', 2.5, 1.25, 10, 420, false],
  ['lab_one_standard_long', 2, 0.5, 8, 460, false],
  ['lab_one_standard_next', 1.25, 0.125, 10, 520, true],
  ['lab_one_reasoner_mini', 1.1, 0.275, 4.4, 780, true],
  ['lab_one_classic', 0.5, 0.5, 1.5, 280, false],
  ['lab_two_swift', 0.8, 0.08, 4, 330, false],
  ['lab_two_swift_next', 1, 0.1, 5, 350, true],
  ['lab_two_balanced', 3, 0.3, 15, 560, false],
  ['lab_two_balanced_next', 3, 0.3, 15, 600, true],
  ['lab_two_deep', 15, 1.5, 75, 980, true],
  ['lab_two_classic', 0.25, 0.03, 1.25, 310, false],
];

export const catalogue: readonly LanguageModel[] = rows.map(([modelId, input, cachedInput, output, latencyMs, supportsThinking]) => ({
  modelId,
  prices: { input, output, cachedInput },
  latencyMs,
  supportsThinking,
}));

const byId = new Map(catalogue.map((model) => [model.modelId, model]));

export const defaultModelId = 'search_flash';

/** Default backup when another model does not answer. */
export const defaultBackupModelId = 'svc_open_small';

/** `model_id` of a model that the client hosts. */
export const customModelId = 'custom';

/** Undefined for `custom` and for unknown ids in a loose sandbox. */
export function findModel(modelId: string): LanguageModel | undefined {
  return byId.get(modelId);
}

export interface TokenUsage {
  inputTokens: number;
  /** Part of `inputTokens` that the model had seen before. */
  cachedInputTokens: number;
  outputTokens: number;
}

/** Whole micro-dollars; 0 for models that the service does not bill (`custom`, unknown). */
export function priceUsage(modelId: string, usage: TokenUsage): number {
  const model = findModel(modelId);
  if (model === undefined) return 0;
  const { input, cachedInput, output } = model.prices;
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  // USD per million tokens is micro-dollars per token.
  return Math.round((usage.inputTokens - cached) * input + cached * cachedInput + usage.outputTokens * output);
}
