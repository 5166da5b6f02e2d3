/** The four groups of the contract: open models hosted by the service, and three companies' models, under names of its own. */
export type ModelGroup = 'open' | 'search' | 'lab_one' | 'lab_two';

/** USD per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** Input that the model has seen before; as dear as other input where the model keeps nothing. */
  readonly cachedInput: number;
}

export interface LanguageModel {
  readonly modelId: string;
  readonly group: ModelGroup;
  readonly hipaaEligible: boolean;
  readonly contextTokens: number;
  readonly prices: ModelPrices;
  /** Service milliseconds until its first word, without thinking. */
  readonly latencyMs: number;
  readonly supportsThinking: boolean;
}

type Row = readonly [
  modelId: string,
  hipaaEligible: boolean,
  contextTokens: number,
  input: number,
  cachedInput: number,
  output: number,
  latencyMs: number,
  supportsThinking: boolean,
];

const rows: Readonly<Record<ModelGroup, readonly Row[]>> = {
  open: [
    ['svc_open_small', true, 32_000, 0.1, 0.1, 0.2, 180, false],
    ['svc_open_medium', true, 131_000, 0.2, 0.2, 0.6, 260, false],
    ['svc_open_large', true, 131_000, 0.4, 0.1, 1.6, 380, true],
  ],
  search: [
    ['search_flash_lite', false, 1_000_000, 0.1, 0.025, 0.4, 240, true],
    ['search_flash', true, 1_000_000, 0.3, 0.075, 2.5, 320, true],
    ['search_flash_previous', false, 1_000_000, 0.15, 0.0375, 0.6, 300, false],
    ['search_pro', true, 2_000_000, 1.25, 0.31, 10, 620, true],
    ['search_pro_previous', false, 2_000_000, 1.25, 1.25, 5, 640, false],
    ['search_ultra', false, 2_000_000, 5, 1.25, 20, 950, true],
  ],
  lab_one: [
    ['lab_one_nano', true, 128_000, 0.1, 0.025, 0.4, 230, false],
    ['lab_one_nano_next', true, 400_000, 0.05, 0.005, 0.4, 260, true],
    ['lab_one_mini', true, 128_000, 0.4, 0.1, 1.6, 300, false],
    ['lab_one_mini_next', true, 400_000, 0.25, 0.025, 2, 340, true],
    ['lab_one_turbo', false, 128_000, 10, 10, 30, 700, false],
    ['lab_one_standard', true, 128_000, 2.5, 1.25, 10, 420, false],
    ['lab_one_standard_long', true, 1_000_000, 2, 0.5, 8, 460, false],
    ['lab_one_standard_next', true, 400_000, 1.25, 0.125, 10, 520, true],
    ['lab_one_reasoner_mini', false, 200_000, 1.1, 0.275, 4.4, 780, true],
    ['lab_one_classic', false, 16_000, 0.5, 0.5, 1.5, 280, false],
  ],
  lab_two: [
    ['lab_two_swift', true, 200_000, 0.8, 0.08, 4, 330, false],
    ['lab_two_swift_next', true, 200_000, 1, 0.1, 5, 350, true],
    ['lab_two_balanced', true, 200_000, 3, 0.3, 15, 560, false],
    ['lab_two_balanced_next', true, 1_000_000, 3, 0.3, 15, 600, true],
    ['lab_two_deep', false, 200_000, 15, 1.5, 75, 980, true],
    ['lab_two_classic', false, 200_000, 0.25, 0.03, 1.25, 310, false],
  ],
};

export const catalogue: readonly LanguageModel[] = Object.entries(rows).flatMap(([group, models]) =>
  models.map(([modelId, hipaaEligible, contextTokens, input, cachedInput, output, latencyMs, supportsThinking]) => ({
    modelId,
    group: group as ModelGroup,
    hipaaEligible,
    contextTokens,
    prices: { input, output, cachedInput },
    latencyMs,
    supportsThinking,
  })),
);

const byId = new Map(catalogue.map((model) => [model.modelId, model]));

export const defaultModelId = 'search_flash';

/** Takes over by default when another model gives no answer. */
export const defaultBackupModelId = 'svc_open_small';

/** The `model_id` of a model that the caller hosts. */
export const customModelId = 'custom';

/** Undefined for `custom`, and for what a loose sandbox let pass. */
export function findModel(modelId: string): LanguageModel | undefined {
  return byId.get(modelId);
}

export interface TokenUsage {
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
