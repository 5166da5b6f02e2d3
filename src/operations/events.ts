import { z } from 'zod';
import { instant } from './fields.ts';
import { download, read, under } from './operation.ts';

const eventQuery = z.object({
  campaign: z.string().min(1).optional().describe('Only events of this campaign.'),
  after: z.coerce.number().int().min(0).default(0).describe('`cursor` of the page before.'),
});

/** Without `after`: from now on. */
const streamQuery = eventQuery.extend({ after: eventQuery.shape.after.unwrap().optional() });

/** A browser sends the last id that it received. */
const streamHeaders = z.object({
  'last-event-id': z
    .string()
    .regex(/^\d{1,15}$/, 'this is the id of no event: send the last one that came, or none')
    .transform(Number)
    .optional(),
});

/** Contains no number, name or spoken words. */
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

export const eventOperations = under('events', {
  listEvents: read('GET /events', 'read', 'Read the event log from a cursor on, oldest first', {
    query: eventQuery,
    answer: eventPage,
    refuses: [404],
  }),
  followEvents: download('GET /events/stream', 'read', 'Follow the event log as server-sent events', {
    more:
      'The id of each event is its `seq`; a client that connects again sends it as `Last-Event-ID` and misses nothing. ' +
      'Without one, and without `after`, the stream begins with what is added from now on.',
    query: streamQuery,
    headers: streamHeaders,
    produces: stream,
    refuses: [404],
  }),
});
