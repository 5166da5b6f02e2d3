import type { FastifyInstance } from 'fastify';
import type { Outbound } from '../core/allowed-host.ts';
import { deriveId } from '../core/random.ts';
import { conflict, existing } from '../core/service-error.ts';
import type { Feature, Parting, Service } from '../core/service/service.ts';
import { serveControl } from '../http/serve-control.ts';
import { refuseField } from '../schemas/validate.ts';
import { refuseAddress, webhookChange, webhookInput, type WebhookFacts } from '../schemas/webhook.ts';
import { eventsOf } from './events.ts';
import { describeDelivery, Subscriber } from './subscriber.ts';

/** Tells the world about finished calls (gaps A.8). Without a webhook nothing is ever sent. */
export class Webhooks implements Feature {
  readonly #service: Service;
  readonly #subscribers = new Map<string, Subscriber>();
  #made = 0;

  constructor(service: Service) {
    this.#service = service;
    this.load(service.settings);
    service.callListeners.add((call, change, at) => {
      if (change !== 'analysed' || this.#subscribers.size === 0) return;
      for (const event of eventsOf(service.settings.seed, call, at)) {
        for (const subscriber of this.#subscribers.values()) subscriber.tell(event);
      }
    });
  }

  add(facts: WebhookFacts): Subscriber {
    const id = deriveId('webhook', this.#service.settings.seed, (this.#made += 1));
    const subscriber = new Subscriber(id, facts, this.#service);
    this.#subscribers.set(id, subscriber);
    return subscriber;
  }

  list(): Subscriber[] {
    return [...this.#subscribers.values()];
  }

  get(webhookId: string): Subscriber | undefined {
    return this.#subscribers.get(webhookId);
  }

  remove(subscriber: Subscriber): void {
    subscriber.dropPending('The webhook was removed.');
    this.#subscribers.delete(subscriber.webhookId);
  }

  /**
   * Where the state is replaced and the scheduler cleared, the webhooks stay, and what was on its way belongs to another past.
   * A reset leads back to the webhooks given at start.
   */
  leave(why: Parting): void {
    for (const subscriber of this.list()) {
      if (why === 'replaced') subscriber.dropPending('The state was replaced.');
      else this.remove(subscriber);
    }
    if (why !== 'reset') return;
    this.#made = 0;
    this.load(this.#service.settings);
  }

  load({ webhooks }: { webhooks: readonly WebhookFacts[] }): void {
    for (const facts of webhooks) this.add(facts);
  }

  /** Deliveries that wait, are being sent, or are to be tried again. */
  underWay(): { webhook_deliveries: number } {
    return { webhook_deliveries: this.list().reduce((sum, subscriber) => sum + subscriber.underWay, 0) };
  }
}

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
