import type { FastifyInstance } from 'fastify';
import { factsOf } from '../core/dialects.ts';
import { deriveId } from '../core/random.ts';
import { conflict, existing } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { serveControl } from '../http/serve-control.ts';
import { refuseField } from '../schemas/validate.ts';
import { refuseAddress, webhookInput, type WebhookFacts } from '../schemas/webhook.ts';
import { eventsOf } from './events.ts';
import { describeDelivery, Subscriber } from './subscriber.ts';

const notInContract = 'The contract has no webhooks; start the sandbox in the extended dialect to have them.';

export interface Webhooks {
  list(): Subscriber[];
}

/** Sends finished calls (gaps A.8). Configured webhooks exist from the start, and again after a reset. */
export function installWebhooks(app: FastifyInstance, service: Service): Webhooks {
  const { settings, callListeners, features } = service;
  const subscribers = new Map<string, Subscriber>();
  let made = 0;
  const list = (): Subscriber[] => [...subscribers.values()];
  const find = (webhookId: string): Subscriber => existing(subscribers.get(webhookId), 'webhook', webhookId);
  const add = (facts: WebhookFacts): Subscriber => {
    const subscriber = new Subscriber(deriveId('webhook', settings.seed, (made += 1)), facts, service);
    subscribers.set(subscriber.webhookId, subscriber);
    return subscriber;
  };
  const remove = (subscriber: Subscriber): void => {
    subscriber.dropPending('The webhook was removed.');
    subscribers.delete(subscriber.webhookId);
  };

  settings.webhooks.forEach(add);
  callListeners.add((call, change, at) => {
    if (change !== 'analysed' || subscribers.size === 0) return;
    for (const event of eventsOf(settings.seed, call, at)) for (const subscriber of list()) subscriber.tell(event);
  });
  features.push({
    // A replaced state keeps the webhooks, but pending deliveries belong to another past.
    leave(why) {
      for (const subscriber of list()) {
        if (why === 'replaced') subscriber.dropPending('The state was replaced.');
        else remove(subscriber);
      }
      if (why !== 'reset') return;
      made = 0;
      settings.webhooks.forEach(add);
    },
    load: ({ webhooks }) => webhooks.forEach(add),
    underWay: () => ({ webhook_deliveries: list().reduce((sum, { underWay }) => sum + underWay, 0) }),
  });

  serveControl(app, 'GET /_sandbox/webhooks', {
    says: 'Lists the webhooks.',
    answer: () => ({ webhooks: list().map((webhook) => webhook.describe()) }),
  });

  serveControl(app, 'POST /_sandbox/webhooks', {
    says: 'Adds a webhook.',
    body: webhookInput,
    answer: ({ body }) => {
      if (!factsOf(settings).further) throw conflict('not_in_dialect', notInContract);
      const input = body();
      const refusal = refuseAddress(input.url, settings.outbound);
      if (refusal !== null) throw refuseField(['body', 'url'], refusal, 'address_not_allowed', input.url.slice(0, 200));
      return add(input).describe();
    },
  });

  serveControl(app, 'GET /_sandbox/webhooks/:webhook_id', { says: 'Reads a webhook.', answer: ({ id }) => find(id()).describe() });

  serveControl(app, 'DELETE /_sandbox/webhooks/:webhook_id', {
    says: 'Removes a webhook.',
    answer: ({ id }) => {
      remove(find(id()));
      return {};
    },
  });

  serveControl(app, 'GET /_sandbox/webhooks/:webhook_id/deliveries', {
    says: 'Lists the last deliveries of a webhook with every attempt.',
    answer: ({ id }) => ({ deliveries: find(id()).deliveries.map(describeDelivery) }),
  });

  return { list };
}
