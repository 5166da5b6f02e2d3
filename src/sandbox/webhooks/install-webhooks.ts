import type { FastifyInstance } from 'fastify';
import type { Outbound } from '../core/allowed-host.ts';
import { serveControl } from '../http/serve-control.ts';
import { refuseField } from '../schemas/validate.ts';
import { conflict, existing } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { describeDelivery } from './delivery.ts';
import { Webhooks } from './webhooks.ts';
import type { Subscriber } from './subscriber.ts';
import { refuseAddress, webhookChange, webhookInput } from '../schemas/webhook.ts';

const notInContract = 'The contract has no webhooks; start the sandbox in the extended dialect to have them.';

/**
 * Webhooks: who is told about finished calls, and what became of the telling. The secret goes in and never comes out. Those of the
 * settings are there from the start, and again after a reset.
 */
export function installWebhooks(app: FastifyInstance, service: Service): Webhooks {
  const { settings } = service;
  const webhooks = new Webhooks(service);
  service.features.push(webhooks);
  const find = (webhookId: string): Subscriber => existing(webhooks.get(webhookId), 'webhook', webhookId);

  serveControl(app, 'GET /_sandbox/webhooks', {
    says: 'Lists the webhooks.',
    answer: () => ({ webhooks: webhooks.list().map((webhook) => webhook.describe()) }),
  });

  serveControl(app, 'POST /_sandbox/webhooks', {
    says: 'Adds a webhook.',
    body: webhookInput,
    answer: ({ body }) => {
      if (settings.dialect === 'spec') throw conflict('not_in_dialect', notInContract);
      const input = body();
      checkAddress(input.url, settings.outbound);
      return webhooks.add(input).describe();
    },
  });

  serveControl(app, 'GET /_sandbox/webhooks/:webhook_id', {
    says: 'Reads a webhook.',
    answer: ({ id }) => find(id()).describe(),
  });

  serveControl(app, 'PATCH /_sandbox/webhooks/:webhook_id', {
    says: 'Changes a webhook.',
    body: webhookChange,
    answer: ({ id, body }) => {
      const webhook = find(id());
      const change = body();
      if (change.url !== undefined) checkAddress(change.url, settings.outbound);
      webhook.change(change);
      return webhook.describe();
    },
  });

  serveControl(app, 'DELETE /_sandbox/webhooks/:webhook_id', {
    says: 'Removes a webhook.',
    answer: ({ id }) => {
      webhooks.remove(find(id()));
      return {};
    },
  });

  serveControl(app, 'GET /_sandbox/webhooks/:webhook_id/deliveries', {
    says: 'Lists the last deliveries of a webhook with every attempt.',
    answer: ({ id }) => ({ deliveries: find(id()).deliveries.map(describeDelivery) }),
  });

  return webhooks;
}

function checkAddress(url: string, outbound: Outbound): void {
  const refusal = refuseAddress(url, outbound);
  if (refusal !== null) throw refuseField(['body', 'url'], refusal, 'address_not_allowed', url.slice(0, 200));
}
