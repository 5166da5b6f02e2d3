import { z } from 'zod';
import { instant } from './common.ts';

const eventQuery = z.object({
  campaign: z.string().min(1).optional().meta({ description: 'Only events of this campaign.' }),
  after: z.coerce.number().int().min(0).default(0).meta({ description: '`cursor` of the page before.' }),
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
    text: z.string().nullable().meta({ description: 'In words, where people want to hear of it as it happens.' }),
  })
  .meta({ id: 'Event' });

const eventPage = z.object({
  events: z.array(event),
  cursor: z.int().meta({ description: '`after` of the next page. Nothing before it is added any more.' }),
});

const stream = { content: z.string().meta({ description: 'The stream.' }), types: ['text/event-stream'] };

/** Of the log. */
export const eventShapes = {
  listEvents: { query: eventQuery, answer: eventPage, refuses: [404] },
  followEvents: { query: streamQuery, headers: streamHeaders, produces: stream, refuses: [404] },
};
