import { z } from 'zod';
import { webhookEventTypes } from '../rules/webhooks/messages.ts';
import { instant } from './fields.ts';
import { ask, change, read, under } from './operation.ts';

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

/** Without the address itself. */
const webhook = z
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

/** `notice`: why Temporal was not notified. */
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

export const webhookOperations = under('webhooks', {
  listWebhooks: read('GET /webhooks', 'read', 'List the webhooks and how their deliveries go', {
    answer: z.object({ webhooks: z.array(webhook) }),
  }),
  addWebhook: change('POST /webhooks', 'admin', 'Notify an address of events from now on', {
    more: 'Requests are signed (Standard Webhooks), and sent in the order of the log until each is taken.',
    action: 'webhook_added',
    body: addWebhookBody,
    answer: changedWebhook,
    status: 201,
    refuses: [404],
  }),
  readWebhook: read('GET /webhooks/:webhook', 'read', 'Read a webhook and how its deliveries go', {
    params: webhookParams,
    answer: webhook,
  }),
  removeWebhook: change('DELETE /webhooks/:webhook', 'admin', 'Stop notifying an address', {
    action: 'webhook_removed',
    params: webhookParams,
    answer: webhook,
  }),
  pauseWebhook: change('POST /webhooks/:webhook/pause', 'admin', 'Hold events back; none is lost', {
    action: 'webhook_paused',
    params: webhookParams,
    answer: changedWebhook,
  }),
  resumeWebhook: change('POST /webhooks/:webhook/resume', 'admin', 'Send what was held back, at once', {
    action: 'webhook_resumed',
    params: webhookParams,
    answer: changedWebhook,
  }),
  testWebhook: ask('POST /webhooks/:webhook/test', 'admin', 'Send a ping from the server of the API, and say whether it was taken', {
    params: webhookParams,
    answer: pingAnswer,
    refuses: [422],
  }),
});
