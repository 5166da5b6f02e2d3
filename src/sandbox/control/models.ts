import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { catalogue, defaultBackupModelId, defaultModelId, findModel } from '../models/catalogue.ts';
import { serveControl } from '../http/serve-control.ts';
import { notFound } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';

const availability = '/_sandbox/models/:model_id/availability';
const availabilityBody = z.strictObject({ available: z.boolean() });

export function controlModels(app: FastifyInstance, { unavailableModels }: Service): void {
  serveControl(app, 'GET /_sandbox/models', {
    says: 'Lists the language models that agents may name.',
    answer: () => ({
      default_model_id: defaultModelId,
      default_backup_model_id: defaultBackupModelId,
      models: catalogue.map((model) => ({
        model_id: model.modelId,
        group: model.group,
        hipaa_eligible: model.hipaaEligible,
        context_tokens: model.contextTokens,
        usd_per_million_tokens: { input: model.prices.input, cached_input: model.prices.cachedInput, output: model.prices.output },
        latency_ms: model.latencyMs,
        supports_thinking: model.supportsThinking,
      })),
    }),
  });

  serveControl(app, `GET ${availability}`, {
    says: 'Tells whether a model of the service gives answers.',
    answer: ({ id }) => {
      const modelId = knownModel(id());
      return { model_id: modelId, available: !unavailableModels.has(modelId) };
    },
  });

  serveControl(app, `PUT ${availability}`, {
    says: 'Makes a model of the service give answers or none, for conversations that begin from now on.',
    body: availabilityBody,
    answer: ({ id, body }) => {
      const modelId = knownModel(id());
      const { available } = body();
      if (available) unavailableModels.delete(modelId);
      else unavailableModels.add(modelId);
      return { model_id: modelId, available };
    },
  });
}

function knownModel(modelId: string): string {
  if (findModel(modelId) === undefined) throw notFound('model', modelId, 'model_id');
  return modelId;
}
