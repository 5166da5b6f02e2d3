import { createHmac } from 'node:crypto';
import { deriveId } from '../core/random.ts';
import type { Service } from '../core/service/service.ts';
import { isoTime, unixSeconds } from '../core/times.ts';
import type { WebhookFacts } from '../schemas/webhook.ts';
import { writeEvent, type WebhookEvent } from './events.ts';

const signatureHeader = 'svc-signature';
const mostRemembered = 1_000;
const mostAtOnce = 8;
const longestAnswerMs = 10_000;
const longestAnswerBytes = 64 * 1024;
/** Service ms from the event to each attempt (gaps A.8). */
const attemptOffsetsMs = [0, 30_000, 120_000, 480_000, 1_800_000] as const;

interface PostResult {
  status: number | null;
  error: string | null;
}

/** One event's delivery to one webhook. Times: epoch ms of service time. */
export interface Delivery {
  readonly deliveryId: string;
  readonly event: WebhookEvent;
  readonly duplicate: boolean;
  state: 'pending' | 'delivered' | 'failed' | 'dropped';
  reason: string | null;
  nextAttemptAt: number | null;
  readonly attempts: (PostResult & { at: number })[];
}

export function describeDelivery({ event, nextAttemptAt, attempts, ...delivery }: Delivery): Record<string, unknown> {
  return {
    delivery_id: delivery.deliveryId,
    type: event.type,
    conversation_id: event.call.conversationId,
    event_time: isoTime(event.at),
    duplicate: delivery.duplicate,
    state: delivery.state,
    reason: delivery.reason,
    next_attempt_at: nextAttemptAt === null ? null : isoTime(nextAttemptAt),
    attempts: attempts.map(({ at, ...result }) => ({ at: isoTime(at), ...result })),
  };
}

/** One webhook: its subscription and its deliveries. */
export class Subscriber {
  readonly webhookId: string;
  readonly #service: Service;
  readonly #facts: WebhookFacts;
  #deliveries: Delivery[] = [];
  readonly #waiting: { delivery: Delivery; at: number }[] = [];
  #beingSent = 0;
  readonly #toRetry = new Set<Delivery>();
  /** Aborts the request in flight. */
  #sending = new AbortController();

  constructor(webhookId: string, facts: WebhookFacts, service: Service) {
    this.webhookId = webhookId;
    this.#facts = facts;
    this.#service = service;
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  get underWay(): number {
    return this.#waiting.length + this.#beingSent + this.#toRetry.size;
  }

  /** Public view of a webhook: never the secret. */
  describe() {
    const { secret: _, ...facts } = this.#facts;
    return { webhook_id: this.webhookId, ...facts, pending_retries: this.#toRetry.size };
  }

  /** Drops waiting, running and retrying deliveries. */
  dropPending(reason: string): void {
    this.#sending.abort();
    this.#sending = new AbortController();
    this.#waiting.length = 0;
    this.#toRetry.clear();
    for (const delivery of this.#deliveries) if (delivery.state === 'pending') drop(delivery, reason);
  }

  tell(event: WebhookEvent): void {
    if (!this.#facts.events.includes(event.type)) return;
    const { seed } = this.#service.settings;
    for (const duplicate of this.#facts.duplicates ? [false, true] : [false]) {
      const deliveryId = deriveId('delivery', seed, this.webhookId, event.call.callId, event.type, Number(duplicate));
      const begun = { state: 'pending', reason: null, nextAttemptAt: event.at } as const;
      const delivery: Delivery = { deliveryId, event, duplicate, attempts: [], ...begun };
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
    while (this.#beingSent < mostAtOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#beingSent += 1;
      const { pendingWork } = this.#service;
      const work = this.#attempt(next.delivery, next.at).finally(() => {
        pendingWork.delete(work);
        this.#beingSent -= 1;
        this.#sendNext();
      });
      pendingWork.add(work);
    }
  }

  async #attempt(delivery: Delivery, at: number): Promise<void> {
    delivery.nextAttemptAt = null;
    const body = writeEvent(this.#service, delivery.event);
    if (body === null) {
      drop(delivery, 'The conversation was deleted.');
      return;
    }
    const { url, secret } = this.#facts;
    const headers = { [signatureHeader]: signBody(secret, unixSeconds(at), body), date: new Date(at).toUTCString() };
    const result = await post(url, headers, body, this.#sending.signal);
    // Dropped meanwhile.
    if (delivery.state !== 'pending') return;
    delivery.attempts.push({ at, ...result });
    if (result.status === 200) delivery.state = 'delivered';
    else this.#fail(delivery, result);
  }

  #fail(delivery: Delivery, { status, error }: PostResult): void {
    delivery.state = 'failed';
    delivery.reason = error ?? `The answer was ${status}; it must be 200.`;
    const offsetMs = attemptOffsetsMs[delivery.attempts.length];
    // Only transient failures are retried.
    const mayPass = status !== null && (status >= 500 || status === 429 || status === 408);
    if (!this.#facts.retries || !mayPass || offsetMs === undefined) return;
    const next = delivery.event.at + offsetMs;
    Object.assign(delivery, { state: 'pending', nextAttemptAt: next });
    this.#toRetry.add(delivery);
    this.#service.scheduler.schedule(next, (due) => {
      if (this.#toRetry.delete(delivery)) this.#enqueue(delivery, due);
    });
  }
}

/** Redirects are not followed; timeout: ten real seconds. */
async function post(url: string, headers: Record<string, string>, body: string, given: AbortSignal): Promise<PostResult> {
  try {
    // Loaded on first use: most sandboxes have no webhooks.
    const { request } = await import('undici');
    const response = await request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'carillon-sandbox' },
      body,
      reset: true,
      signal: AbortSignal.any([given, AbortSignal.timeout(longestAnswerMs)]),
    });
    await response.body.dump({ limit: longestAnswerBytes });
    return { status: response.statusCode, error: null };
  } catch (error) {
    const { name, code } = error as { name?: unknown; code?: unknown };
    if (name === 'TimeoutError') return { status: null, error: `no answer within ${longestAnswerMs / 1000} seconds` };
    return { status: null, error: typeof code === 'string' ? code : 'the connection failed' };
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
