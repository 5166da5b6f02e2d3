import { deriveId } from '../core/random.ts';
import type { Feature, Parting, Service } from '../core/service/service.ts';
import { eventsOf } from './events.ts';
import { Poster } from './post.ts';
import { Subscriber } from './subscriber.ts';
import type { WebhookFacts } from '../schemas/webhook.ts';

/** Tells the world about finished calls (gaps A.8). Without a webhook nothing is ever sent. */
export class Webhooks implements Feature {
  readonly #service: Service;
  readonly #poster = new Poster();
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
    const parts = { service: this.#service, poster: this.#poster };
    const subscriber = new Subscriber(id, facts, parts);
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
    if (why === 'closed') void this.#poster.close();
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
