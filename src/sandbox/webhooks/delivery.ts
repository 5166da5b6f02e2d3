import { isoTime } from '../core/times.ts';
import type { WebhookEvent } from './events.ts';
import type { PostResult } from './post.ts';

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
