import type { FastifyInstance } from 'fastify';
import { catalogue, defaultBackupModelId, defaultModelId } from '../models/catalogue.ts';
import { serveControl } from '../http/serve-operation.ts';

/** The language models that agents may name. */
export function controlModels(app: FastifyInstance): void {
  serveControl(app, 'GET', 'models', { says: 'Lists the language models that agents may name.' }, async () => ({
    default_model_id: defaultModelId,
    default_backup_model_id: defaultBackupModelId,
    models: catalogue.map((model) => ({
      model_id: model.modelId,
      group: model.group,
      hipaa_eligible: model.hipaaEligible,
      context_tokens: model.contextTokens,
      usd_per_million_tokens: {
        input: model.prices.input,
        cached_input: model.prices.cachedInput,
        output: model.prices.output,
      },
      latency_ms: model.latencyMs,
      supports_thinking: model.supportsThinking,
    })),
  }));
}
