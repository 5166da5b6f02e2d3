import type { EventType, NewEvent } from '../events.ts';
import type { CampaignState } from '../lifecycle.ts';
import type { Outcome } from '../outcome.ts';

/** What other systems are told of, one message each. A type that is told once keeps its name and its meaning. */
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
/** Type of a message to a webhook. */
export type WebhookEventType = (typeof webhookEventTypes)[number];

type CampaignEventType = Extract<WebhookEventType, `campaign.${string}`>;

/** An event of the log as a message, before the row that it is about has been looked up. */
export type WebhookEvent =
  | { type: 'row.ended'; recipientId: string; outcome: Outcome; reason: string | null }
  /** Its outcome is taken back: it may be called again. */
  | { type: 'row.reopened'; recipientId: string }
  /** The record of its talk is complete, and a rule of the campaign says what it came to. */
  | { type: 'row.result'; recipientId: string; result: string }
  | {
      type: CampaignEventType;
      reason: string | null;
      /** When a pause ends by itself (service time); null: it does not. */
      resumesAt: number | null;
    };

/** Types of the log that make messages, and which ones each can make. */
const sources = {
  'recipient.outcome': ['row.ended', 'row.reopened'],
  'attempt.result': ['row.result'],
  'recipient.retried': ['row.reopened'],
  'recipient.corrected': ['row.reopened'],
  'campaign.state': webhookEventTypes.filter((type) => type.startsWith('campaign.')),
} as const satisfies Partial<Record<EventType, readonly WebhookEventType[]>>;
type SourceType = keyof typeof sources;

/** Types of the log that can make one of these messages; null: any message. */
export function sourceTypes(types: readonly WebhookEventType[] | null): SourceType[] {
  const all = Object.keys(sources) as SourceType[];
  return all.filter((source) => types === null || sources[source].some((type) => types.includes(type)));
}

const isSource = (event: NewEvent): event is Extract<NewEvent, { type: SourceType }> => event.type in sources;

/** What webhooks are told of an event of the log; null when it is nothing for them. One event makes one message at most. */
export function readWebhookEvent(event: NewEvent): WebhookEvent | null {
  if (!isSource(event)) return null;
  const { recipientId = '' } = event;
  if (event.type === 'recipient.outcome') {
    const { outcome, reason } = event.data;
    return outcome === null ? { type: 'row.reopened', recipientId } : { type: 'row.ended', recipientId, outcome, reason };
  }
  if (event.type === 'attempt.result') return { type: 'row.result', recipientId, result: event.data.result };
  // A correction takes back the outcome that there was.
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
 * What a receiver tells a repetition by: the same for each try of the same event to the same webhook. The instant is part of it, since a
 * database that was set back to an older copy gives its numbers out again. No dot may be in it, which ends the id where it is signed.
 */
export function webhookMessageId(webhookId: string, { seq, at }: { seq: number; at: number }): string {
  return `${webhookId}_${seq}_${at.toString(36)}`;
}
