import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findModel } from '../models/catalogue.ts';
import { pathParameter, serveControl } from '../http/serve-operation.ts';
import { validate } from '../schemas/validate.ts';
import { notFound } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';

const availabilityBody = z.strictObject({ available: z.boolean() });
const path = 'models/:model_id/availability';

/** Whether a model of the service gives answers, for conversations that begin from now on. */
export function controlModelAvailability(app: FastifyInstance, { unavailableModels }: Service): void {
  serveControl(app, 'GET', path, { says: 'Tells whether a model of the service gives answers.' }, (request) => {
    const modelId = knownModel(pathParameter(request, 'model_id'));
    return { model_id: modelId, available: !unavailableModels.has(modelId) };
  });

  serveControl(
    app,
    'PUT',
    path,
    {
      says: 'Makes a model of the service give answers or none, for conversations that begin from now on.',
      body: availabilityBody,
    },
    (request) => {
      const modelId = knownModel(pathParameter(request, 'model_id'));
      const { available } = validate(availabilityBody, 'body', request.body);
      if (available) unavailableModels.delete(modelId);
      else unavailableModels.add(modelId);
      return { model_id: modelId, available };
    },
  );
}

function knownModel(modelId: string): string {
  if (findModel(modelId) === undefined) throw notFound('model', modelId, 'model_id');
  return modelId;
}
