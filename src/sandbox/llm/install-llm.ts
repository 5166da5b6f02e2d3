import type { FastifyInstance } from 'fastify';
import type { Service } from '../core/service/service.ts';
import { controlModelRequests } from './control-model-requests.ts';
import { ModelCaller } from './model-caller.ts';
import { ModelRequestLog } from './model-request-log.ts';
import { createModelTalks } from './model-talks.ts';

/** Agents that speak through a model behind an address of their own. */
export function installLlm(app: FastifyInstance, service: Service): { modelCaller: ModelCaller } {
  const { settings, clock, unavailableModels } = service;
  const requests = new ModelRequestLog();
  const modelCaller = new ModelCaller(requests, clock, settings.modelLimits, settings.outbound);
  const talks = createModelTalks(settings, modelCaller, unavailableModels);
  service.live = talks;
  service.features.push({
    leave(why) {
      talks.stop();
      if (why === 'closed') void modelCaller.close();
      else requests.clear();
    },
    forget: (conversationId) => requests.forget(conversationId),
  });
  controlModelRequests(app, requests);
  return { modelCaller };
}
