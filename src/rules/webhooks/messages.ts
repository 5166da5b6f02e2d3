import type { EventType, NewEvent } from '../events.ts';
import type { CampaignState } from '../lifecycle.ts';
import type { Outcome } from '../outcome.ts';

/** Types of webhook messages. A published type keeps its name and its meaning. */
export const webhookEventTypes = [
  'row.ended',
  'row.reopened',
  'row.result',
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.completed',
  'campaign.cancelled',
  'campaign.failed',
] as const;
/** Type of a webhook message. */
export type WebhookEventType = (typeof webhookEventTypes)[number];

type CampaignEventType = Extract<WebhookEventType, `campaign.${string}`>;

/** A log event as a message, before its row is read. */
export type WebhookEvent =
  | { type: 'row.ended'; recipientId: string; outcome: Outcome; reason: string | null }
  /** Its outcome is taken back: it may be called again. */
  | { type: 'row.reopened'; recipientId: string }
  /** The talk's record is complete, and a rule of the campaign names its result. */
  | { type: 'row.result'; recipientId: string; result: string }
  | {
      type: CampaignEventType;
      reason: string | null;
      /** When a pause ends by itself (service time); null: it does not. */
      resumesAt: number | null;
    };

/** Log event types that make messages, and the types each can make. */
const sources = {
  'recipient.outcome': ['row.ended', 'row.reopened'],
  'attempt.result': ['row.result'],
  'recipient.retried': ['row.reopened'],
  'recipient.corrected': ['row.reopened'],
  'campaign.state': webhookEventTypes.filter((type) => type.startsWith('campaign.')),
} as const satisfies Partial<Record<EventType, readonly WebhookEventType[]>>;
type SourceType = keyof typeof sources;

/** Log event types that can make one of these messages; null: any message. */
export function sourceTypes(types: readonly WebhookEventType[] | null): SourceType[] {
  const all = Object.keys(sources) as SourceType[];
  return all.filter((source) => types === null || sources[source].some((type) => types.includes(type)));
}

const isSource = (event: NewEvent): event is Extract<NewEvent, { type: SourceType }> => event.type in sources;

/** Converts a log event to a webhook message; null: none. One event makes one message at most. */
export function readWebhookEvent(event: NewEvent): WebhookEvent | null {
  if (!isSource(event)) return null;
  const { recipientId = '' } = event;
  if (event.type === 'recipient.outcome') {
    const { outcome, reason } = event.data;
    return outcome === null ? { type: 'row.reopened', recipientId } : { type: 'row.ended', recipientId, outcome, reason };
  }
  if (event.type === 'attempt.result') return { type: 'row.result', recipientId, result: event.data.result };
  // A correction takes back an existing outcome.
  if (event.type === 'recipient.retried' || event.type === 'recipient.corrected')
    return event.data.outcome === null ? null : { type: 'row.reopened', recipientId };
  const { from, to, reason, resumeAt = null } = event.data;
  const type = typeOfChange(from, to);
  return type === null ? null : { type, reason, resumesAt: resumeAt };
}

function typeOfChange(from: CampaignState, to: CampaignState): CampaignEventType | null {
  if (from === 'paused' && (to === 'running' || to === 'scheduled')) return 'campaign.resumed';
  switch (to) {
    case 'running':
      return 'campaign.started';
    case 'paused':
      return 'campaign.paused';
    case 'completed':
      return 'campaign.completed';
    case 'cancelled':
      return 'campaign.cancelled';
    case 'failed':
      return 'campaign.failed';
    case 'importing':
    case 'draft':
    case 'scheduled':
    case 'draining':
      return null;
  }
}

/**
 * Idempotency id: the same for each retry of an event to a webhook. Has the instant, as a restored database reuses its numbers, and no dot,
 * which ends the signed id.
 */
export function webhookMessageId(webhookId: string, { seq, at }: { seq: number; at: number }): string {
  return `${webhookId}_${seq}_${at.toString(36)}`;
}
