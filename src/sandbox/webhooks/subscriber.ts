import { createHmac } from 'node:crypto';
import { deriveId, Random } from '../core/random.ts';
import { unixSeconds } from '../core/times.ts';
import type { Service } from '../core/service/service.ts';
import type { Delivery } from './delivery.ts';
import { writeEvent, type WebhookEvent } from './events.ts';
import type { Poster, PostResult } from './post.ts';
import type { WebhookChange, WebhookFacts } from '../schemas/webhook.ts';

const signatureHeader = 'svc-signature';
const mostPendingRetries = 100;
const mostRemembered = 1_000;
const mostAtOnce = 8;
const failuresToDisable = 10;
const daysWithoutSuccessMs = 7 * 24 * 3_600_000;

/** One webhook: what it wants, and everything on its way to it. */
export class Subscriber {
  readonly webhookId: string;
  readonly #service: Service;
  readonly #poster: Poster;
  #facts: WebhookFacts;
  #deliveries: Delivery[] = [];
  readonly #waiting: { delivery: Delivery; at: number }[] = [];
  #underWay = 0;
  #pendingRetries = 0;
  #enabled = true;
  /** Grows when everything under way is given up, so that what comes back of it is told apart. */
  #epoch = 0;
  #consecutiveFailures = 0;
  /** When something was last delivered, or when there was last no reason to complain. */
  #goodSince: number;

  constructor(webhookId: string, facts: WebhookFacts, parts: { service: Service; poster: Poster }) {
    this.webhookId = webhookId;
    this.#facts = facts;
    this.#service = parts.service;
    this.#poster = parts.poster;
    this.#goodSince = this.#service.clock.now();
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  /** Deliveries that wait, are being sent, or are to be tried again. */
  get underWay(): number {
    return this.#waiting.length + this.#underWay + this.#pendingRetries;
  }

  /** What is told of a webhook: never the secret. */
  describe() {
    const { secret: _, ...facts } = this.#facts;
    return {
      webhook_id: this.webhookId,
      ...facts,
      enabled: this.#enabled,
      consecutive_failures: this.#consecutiveFailures,
      pending_retries: this.#pendingRetries,
    };
  }

  change({ enabled, ...facts }: WebhookChange): void {
    const given = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
    this.#facts = { ...this.#facts, ...given };
    if (enabled === undefined) return;
    if (enabled && !this.#enabled) {
      this.#consecutiveFailures = 0;
      this.#goodSince = this.#service.clock.now();
    }
    this.#enabled = enabled;
  }

  /** Gives up what waits, is under way or was to be tried again. */
  dropPending(reason: string): void {
    this.#epoch += 1;
    this.#waiting.length = 0;
    this.#pendingRetries = 0;
    for (const delivery of this.#deliveries) if (delivery.state === 'pending') drop(delivery, reason);
  }

  tell(event: WebhookEvent): void {
    if (!this.#enabled || !this.#facts.events.includes(event.type)) return;
    for (const duplicate of this.#facts.duplicates ? [false, true] : [false]) {
      const { seed } = this.#service.settings;
      const delivery: Delivery = {
        deliveryId: deriveId('delivery', seed, this.webhookId, event.call.callId, event.type, Number(duplicate)),
        event,
        duplicate,
        state: 'pending',
        reason: null,
        nextAttemptAt: event.at,
        attempts: [],
      };
      this.#deliveries.push(delivery);
      this.#enqueue(delivery, event.at);
    }
    if (this.#deliveries.length > mostRemembered * 1.1) this.#deliveries = this.#deliveries.slice(-mostRemembered);
  }

  #enqueue(delivery: Delivery, at: number): void {
    this.#waiting.push({ delivery, at });
    this.#sendNext();
  }

  #sendNext(): void {
    while (this.#underWay < mostAtOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underWay += 1;
      const { pendingWork } = this.#service;
      const work = this.#attempt(next.delivery, next.at).finally(() => {
        pendingWork.delete(work);
        this.#underWay -= 1;
        this.#sendNext();
      });
      pendingWork.add(work);
    }
  }

  async #attempt(delivery: Delivery, at: number): Promise<void> {
    if (!this.#enabled) {
      drop(delivery, 'The webhook is disabled.');
      return;
    }
    const epoch = this.#epoch;
    delivery.nextAttemptAt = null;
    const body = writeEvent(this.#service, delivery.event);
    if (this.#epoch !== epoch) return;
    if (body === null) {
      drop(delivery, 'The conversation was deleted.');
      return;
    }
    const { url, secret } = this.#facts;
    const headers = { [signatureHeader]: signBody(secret, unixSeconds(at), body), date: new Date(at).toUTCString() };
    const result = await this.#poster.post(url, headers, body);
    if (this.#epoch !== epoch) return;
    delivery.attempts.push({ at, ...result });
    if (result.status === 200) this.#succeed(delivery, at);
    else this.#fail(delivery, at, result);
  }

  #succeed(delivery: Delivery, at: number): void {
    delivery.state = 'delivered';
    this.#consecutiveFailures = 0;
    this.#goodSince = Math.max(this.#goodSince, at);
  }

  #fail(delivery: Delivery, at: number, { status, error }: PostResult): void {
    this.#consecutiveFailures += 1;
    if (this.#consecutiveFailures >= failuresToDisable && at - this.#goodSince >= daysWithoutSuccessMs)
      this.#enabled = false;
    delivery.state = 'failed';
    delivery.reason = error ?? `The answer was ${status}; it must be 200.`;
    if (!this.#facts.retries || !isWorthRetrying(status)) return;
    const { settings, scheduler } = this.#service;
    const next = nextAttemptAt(settings.seed, delivery.deliveryId, delivery.event.at, delivery.attempts.length);
    if (next === null) return;
    if (this.#pendingRetries >= mostPendingRetries) {
      drop(delivery, `${mostPendingRetries} retries are pending already.`);
      return;
    }
    Object.assign(delivery, { state: 'pending', nextAttemptAt: next });
    this.#pendingRetries += 1;
    const epoch = this.#epoch;
    scheduler.schedule(next, (due) => {
      if (this.#epoch !== epoch) return;
      this.#pendingRetries -= 1;
      this.#enqueue(delivery, due);
    });
  }
}

/** `t=<unix seconds>,v0=<hex>`, the HMAC-SHA256 over time, a dot and the body as sent (gaps A.8). */
function signBody(secret: string, unixTime: number, body: string): string {
  const digest = createHmac('sha256', secret).update(`${unixTime}.${body}`).digest('hex');
  return `t=${unixTime},v0=${digest}`;
}

function drop(delivery: Delivery, reason: string): void {
  Object.assign(delivery, { state: 'dropped', reason, nextAttemptAt: null });
}

/** Service milliseconds from the event to each attempt (gaps A.8). */
const attemptOffsetsMs = [0, 30_000, 120_000, 480_000, 1_800_000] as const;
const mostJitter = 0.1;

/** When the attempt after `made` ones is due, up to a tenth late; null when there is none. Times are epoch milliseconds of service time. */
function nextAttemptAt(seed: string, deliveryId: string, eventAt: number, made: number): number | null {
  const offset = attemptOffsetsMs[made];
  if (offset === undefined) return null;
  const jitter = mostJitter * new Random(seed, deliveryId, made, 'jitter').next();
  return Math.round(eventAt + offset * (1 + jitter));
}

/** Only what may pass by itself is worth another attempt. */
function isWorthRetrying(status: number | null): boolean {
  return status !== null && (status >= 500 || status === 429 || status === 408);
}
