import type { FastifyInstance } from 'fastify';
import type { Recordings } from '../audio/recordings.ts';
import type { Service } from '../core/service/service.ts';
import { controlWebhooks } from './control.ts';
import { Webhooks } from './webhooks.ts';

/** Who is told about finished calls. Those of the settings are there from the start, and again after a reset. */
export function installWebhooks(app: FastifyInstance, service: Service, recordings: Recordings): Webhooks {
  const webhooks = new Webhooks(service, recordings);
  service.features.push(webhooks);
  controlWebhooks(app, service, webhooks);
  return webhooks;
}
