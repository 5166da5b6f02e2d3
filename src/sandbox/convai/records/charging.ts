import type { Turn, TurnUsage } from '../../core/state/talk.ts';
import { findModel, priceUsage } from '../../models/catalogue.ts';
import { describeTokens } from './turn-record.ts';

type Spent = Omit<TurnUsage, 'modelId' | 'latencyMs'> & { turns: number };

/** One credit is a hundredth of a cent; nobody documents what one is. */
const microDollarsPerCredit = 100;

/** What the language models of a conversation were used for and cost so far. A model that the caller hosts costs nothing here. */
export function describeCharging(turns: readonly Turn[]): Record<string, unknown> {
  const models = [...usageByModel(turns)].map(([modelId, spent]) => ({
    modelId,
    spent,
    microDollars: priceUsage(modelId, spent),
  }));
  const total = models.reduce((sum, { microDollars }) => sum + microDollars, 0);
  return {
    usage: {
      models: Object.fromEntries(
        models.map(({ modelId, spent, microDollars }) => [
          modelId,
          {
            input_tokens: spent.inputTokens,
            cached_input_tokens: spent.cachedInputTokens,
            output_tokens: spent.outputTokens,
            turns: spent.turns,
            fallback: spent.fallback,
            billed: findModel(modelId) !== undefined,
            cost_usd: microDollars / 1e6,
          },
        ]),
      ),
      cost_usd: total / 1e6,
    },
    cost: Math.ceil(total / microDollarsPerCredit),
    cost_fiat: total / 1e6,
    charging: {
      llm_price: total / 1e6,
      llm_charge: Math.ceil(total / microDollarsPerCredit),
      llm_usage: Object.fromEntries(models.map(({ modelId, spent }) => [modelId, describeTokens(spent)])),
    },
  };
}

function usageByModel(turns: readonly Turn[]): Map<string, Spent> {
  const byModel = new Map<string, Spent>();
  for (const { usage } of turns) {
    if (usage === undefined) continue;
    const before = byModel.get(usage.modelId);
    byModel.set(usage.modelId, {
      inputTokens: (before?.inputTokens ?? 0) + usage.inputTokens,
      cachedInputTokens: (before?.cachedInputTokens ?? 0) + usage.cachedInputTokens,
      outputTokens: (before?.outputTokens ?? 0) + usage.outputTokens,
      turns: (before?.turns ?? 0) + 1,
      fallback: before?.fallback === true || usage.fallback,
    });
  }
  return byModel;
}
