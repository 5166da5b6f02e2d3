import type { FastifyInstance } from 'fastify';
import type { Outbound } from '../core/allowed-host.ts';
import { pathParameter, serveControl } from '../http/serve-operation.ts';
import { refuseField, validate } from '../schemas/validate.ts';
import { notFound, ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { describeDelivery } from './delivery.ts';
import type { Webhooks } from './webhooks.ts';
import type { Subscriber } from './subscriber.ts';
import { refuseAddress, webhookChange, webhookInput } from '../schemas/webhook.ts';

/** Webhooks: who is told about finished calls, and what became of the telling. The secret goes in and never comes out. */
export function controlWebhooks(app: FastifyInstance, { settings }: Service, webhooks: Webhooks): void {
  serveControl(app, 'GET', 'webhooks', { says: 'Lists the webhooks.' }, () => ({
    webhooks: webhooks.list().map((webhook) => webhook.describe()),
  }));

  serveControl(app, 'POST', 'webhooks', { says: 'Adds a webhook.', body: webhookInput }, (request) => {
    if (settings.dialect === 'spec') throw notInContract();
    const input = validate(webhookInput, 'body', request.body);
    checkAddress(input.url, settings.outbound);
    return webhooks.add(input).describe();
  });

  serveControl(app, 'GET', 'webhooks/:webhook_id', { says: 'Reads a webhook.' }, (request) =>
    find(webhooks, pathParameter(request, 'webhook_id')).describe(),
  );

  serveControl(app, 'PATCH', 'webhooks/:webhook_id', { says: 'Changes a webhook.', body: webhookChange }, (request) => {
    const webhook = find(webhooks, pathParameter(request, 'webhook_id'));
    const change = validate(webhookChange, 'body', request.body);
    if (change.url !== undefined) checkAddress(change.url, settings.outbound);
    webhook.change(change);
    return webhook.describe();
  });

  serveControl(app, 'DELETE', 'webhooks/:webhook_id', { says: 'Removes a webhook.' }, (request) => {
    webhooks.remove(find(webhooks, pathParameter(request, 'webhook_id')));
    return {};
  });

  serveControl(
    app,
    'GET',
    'webhooks/:webhook_id/deliveries',
    { says: 'Lists the last deliveries of a webhook with every attempt.' },
    (request) => ({
      deliveries: find(webhooks, pathParameter(request, 'webhook_id')).deliveries.map(describeDelivery),
    }),
  );
}

function find(webhooks: Webhooks, webhookId: string): Subscriber {
  const webhook = webhooks.get(webhookId);
  if (webhook === undefined) throw notFound('webhook', webhookId);
  return webhook;
}

function checkAddress(url: string, outbound: Outbound): void {
  const refusal = refuseAddress(url, outbound);
  if (refusal !== null) throw refuseField(['body', 'url'], refusal, 'address_not_allowed', url.slice(0, 200));
}

function notInContract(): ServiceError {
  const message = 'The contract has no webhooks; start the sandbox in the extended dialect to have them.';
  return new ServiceError(409, message, { type: 'conflict', code: 'not_in_dialect' });
}
