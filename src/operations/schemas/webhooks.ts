import { z } from 'zod';
import { webhookEventTypes } from '../../rules/webhooks/messages.ts';
import { instant } from './common.ts';

const eventType = z.enum(webhookEventTypes);

const webhookParams = z.object({
  webhook: z
    .string()
    .min(1)
    .max(100)
    .meta({ description: 'Id of the webhook.', examples: ['4f7c2f0e9a1b'] }),
});

const addWebhookBody = z.object({
  url: z
    .string()
    .min(1)
    .max(4100)
    .meta({
      description:
        'An https address, or where it stands: `env://CARILLON_URL_<NAME>`, a variable of the workers, or `url-file:///path`. One of ' +
        'this machine or a private network is refused unless CARILLON_HOOK_NETWORKS allows it.',
      examples: ['https://crm.example.com/carillon'],
    }),
  campaign: z.string().min(1).optional().describe('Only events of this campaign; left out: of all.'),
  types: z
    .array(eventType)
    .min(1)
    .optional()
    .meta({ description: 'Only these events; left out: all.', examples: [['row.ended']] }),
});

/** A webhook, without the address itself. */
export const webhook = z
  .object({
    webhookId: z.string(),
    place: z.string().describe('Host of the address, or where the address stands.'),
    campaign: z.string().nullable().describe('Null: all campaigns.'),
    types: z.array(eventType).nullable().describe('Null: all events.'),
    madeBy: z.string(),
    madeAt: instant,
    state: z
      .enum(['active', 'failing', 'paused', 'disabled'])
      .describe('`failing`: nothing was taken for three days, and is tried every hour. `disabled`: it answered 410.'),
    reason: z.string().nullable().describe('Why it is disabled.'),
    sinceAt: instant.describe('Since when it is in its state.'),
    failures: z.int().describe('In a row; 0 while all goes well.'),
    failingSinceAt: instant.nullable(),
    succeededAt: instant.nullable().describe('When an event was last taken.'),
    failedAt: instant.nullable(),
    lastFailure: z
      .object({ fault: z.string(), status: z.int().nullable() })
      .nullable()
      .describe('What was wrong then, and the status of the answer.'),
    waiting: z
      .object({ events: z.int(), orMore: z.boolean(), oldestAt: instant.nullable() })
      .describe('Events that it has not taken yet. `orMore`: only the next 10,000 were looked at. `oldestAt`: service time.'),
  })
  .meta({ id: 'Webhook' });

const webhookList = z.object({ webhooks: z.array(webhook) });

/** `notice` of a change: why Temporal could not be told. */
const changedWebhook = webhook.extend({
  notice: z
    .string()
    .nullable()
    .describe('Null, or why Temporal could not be notified; the change holds, and a worker follows it within a minute.'),
});

const pingAnswer = z.object({
  delivered: z.boolean(),
  status: z.int().nullable().describe('Of the answer, where it was no 2xx.'),
  why: z.string().nullable(),
});

const ofWebhook = { params: webhookParams };

export const webhookShapes = {
  listWebhooks: { answer: webhookList },
  addWebhook: { body: addWebhookBody, answer: changedWebhook, status: 201, refuses: [404] },
  readWebhook: { ...ofWebhook, answer: webhook },
  removeWebhook: { ...ofWebhook, answer: webhook },
  pauseWebhook: { ...ofWebhook, answer: changedWebhook },
  resumeWebhook: { ...ofWebhook, answer: changedWebhook },
  testWebhook: { ...ofWebhook, answer: pingAnswer, refuses: [422] },
} as const;

const eventQuery = z.object({
  campaign: z.string().min(1).optional().describe('Only events of this campaign.'),
  after: z.coerce.number().int().min(0).default(0).describe('`cursor` of the page before.'),
});

/** Without `after`: from now on. */
const streamQuery = eventQuery.extend({ after: eventQuery.shape.after.unwrap().optional() });

/** A browser sends the id that it was given last, and never one of its own. */
const streamHeaders = z.object({
  'last-event-id': z
    .string()
    .regex(/^\d{1,15}$/, 'this is the id of no event: send the last one that came, or none')
    .transform(Number)
    .optional(),
});

/** A line of the log; no number, no name and nothing that was said is in it. */
export const event = z
  .object({
    seq: z.int(),
    at: instant,
    type: z.string().meta({ examples: ['campaign.state'] }),
    campaignId: z.string(),
    batchId: z.string().nullable(),
    recipientId: z.string().nullable(),
    attemptId: z.string().nullable(),
    text: z.string().nullable().describe('In words, where people want to hear of it as it happens.'),
  })
  .meta({ id: 'Event' });

const eventPage = z.object({
  events: z.array(event),
  cursor: z.int().describe('`after` of the next page. Nothing before it is added any more.'),
});

const stream = { content: z.string().describe('The stream.'), types: ['text/event-stream'] };

export const eventShapes = {
  listEvents: { query: eventQuery, answer: eventPage, refuses: [404] },
  followEvents: { query: streamQuery, headers: streamHeaders, produces: stream, refuses: [404] },
};
