import { createHmac } from 'node:crypto';
import { deriveId, Random } from '../core/random.ts';
import type { Service } from '../core/service/service.ts';
import { isoTime, unixSeconds } from '../core/times.ts';
import type { WebhookChange, WebhookFacts } from '../schemas/webhook.ts';
import { writeEvent, type WebhookEvent } from './events.ts';

const signatureHeader = 'svc-signature';
const mostPendingRetries = 100;
const mostRemembered = 1_000;
const mostAtOnce = 8;
const failuresToDisable = 10;
const daysWithoutSuccessMs = 7 * 24 * 3_600_000;
const longestAnswerMs = 10_000;
const longestAnswerBytes = 64 * 1024;

/** What came back: a status, or why there is none. */
interface PostResult {
  status: number | null;
  error: string | null;
}

/** `at` is epoch milliseconds of service time. */
type DeliveryAttempt = PostResult & { at: number };

/** One event on its way to one webhook. */
export interface Delivery {
  readonly deliveryId: string;
  readonly event: WebhookEvent;
  /** Sent again on purpose. */
  readonly duplicate: boolean;
  state: 'pending' | 'delivered' | 'failed' | 'dropped';
  /** Why it was given up; null otherwise. */
  reason: string | null;
  nextAttemptAt: number | null;
  readonly attempts: DeliveryAttempt[];
}

export function describeDelivery(delivery: Delivery): Record<string, unknown> {
  const { event, nextAttemptAt } = delivery;
  return {
    delivery_id: delivery.deliveryId,
    type: event.type,
    conversation_id: event.call.conversationId,
    event_time: isoTime(event.at),
    duplicate: delivery.duplicate,
    state: delivery.state,
    reason: delivery.reason,
    next_attempt_at: nextAttemptAt === null ? null : isoTime(nextAttemptAt),
    attempts: delivery.attempts.map(({ at, status, error }) => ({ at: isoTime(at), status, error })),
  };
}

/** One webhook: what it wants, and everything on its way to it. */
export class Subscriber {
  readonly webhookId: string;
  readonly #service: Service;
  #facts: WebhookFacts;
  #deliveries: Delivery[] = [];
  readonly #waiting: { delivery: Delivery; at: number }[] = [];
  #underWay = 0;
  readonly #toRetry = new Set<Delivery>();
  /** Cuts off what is being sent. */
  #sending = new AbortController();
  #enabled = true;
  #consecutiveFailures = 0;
  /** When something was last delivered, or when there was last no reason to complain. */
  #goodSince: number;

  constructor(webhookId: string, facts: WebhookFacts, service: Service) {
    this.webhookId = webhookId;
    this.#facts = facts;
    this.#service = service;
    this.#goodSince = service.clock.now();
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  /** Deliveries that wait, are being sent, or are to be tried again. */
  get underWay(): number {
    return this.#waiting.length + this.#underWay + this.#toRetry.size;
  }

  /** What is told of a webhook: never the secret. */
  describe() {
    const { secret: _, ...facts } = this.#facts;
    return {
      webhook_id: this.webhookId,
      ...facts,
      enabled: this.#enabled,
      consecutive_failures: this.#consecutiveFailures,
      pending_retries: this.#toRetry.size,
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
    this.#sending.abort();
    this.#sending = new AbortController();
    this.#waiting.length = 0;
    this.#toRetry.clear();
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
    delivery.nextAttemptAt = null;
    const body = writeEvent(this.#service, delivery.event);
    if (body === null) {
      drop(delivery, 'The conversation was deleted.');
      return;
    }
    const { url, secret } = this.#facts;
    const headers = { [signatureHeader]: signBody(secret, unixSeconds(at), body), date: new Date(at).toUTCString() };
    const result = await post(url, headers, body, this.#sending.signal);
    // Given up meanwhile.
    if (delivery.state !== 'pending') return;
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
    if (this.#consecutiveFailures >= failuresToDisable && at - this.#goodSince >= daysWithoutSuccessMs) this.#enabled = false;
    delivery.state = 'failed';
    delivery.reason = error ?? `The answer was ${status}; it must be 200.`;
    if (!this.#facts.retries || !isWorthRetrying(status)) return;
    const { settings, scheduler } = this.#service;
    const next = nextAttemptAt(settings.seed, delivery.deliveryId, delivery.event.at, delivery.attempts.length);
    if (next === null) return;
    if (this.#toRetry.size >= mostPendingRetries) {
      drop(delivery, `${mostPendingRetries} retries are pending already.`);
      return;
    }
    Object.assign(delivery, { state: 'pending', nextAttemptAt: next });
    this.#toRetry.add(delivery);
    scheduler.schedule(next, (due) => {
      if (this.#toRetry.delete(delivery)) this.#enqueue(delivery, due);
    });
  }
}

/** Redirects are not followed, and an answer has ten real seconds. */
async function post(url: string, headers: Record<string, string>, body: string, given: AbortSignal): Promise<PostResult> {
  try {
    // Loaded when there is something to post; most sandboxes have no webhooks.
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
    if (!(error instanceof Error)) return { status: null, error: 'unknown error' };
    if (error.name === 'TimeoutError') return { status: null, error: `no answer within ${longestAnswerMs / 1000} seconds` };
    return {
      status: null,
      error: 'code' in error && typeof error.code === 'string' ? error.code : 'the connection failed',
    };
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
