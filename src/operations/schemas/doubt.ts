import { z } from 'zod';
import { campaignParams, instant } from './common.ts';
import { rowParams } from './rows.ts';

/** Rows in doubt, with the records among which a person may choose. */
const doubtfulRows = z.object({
  rows: z.array(
    z.object({
      row: z.int(),
      externalId: z.string().nullable(),
      e164: z.string().nullable(),
      reason: z.string().nullable(),
      calls: z
        .array(
          z.object({
            attemptId: z.string(),
            postedAt: instant.nullable(),
            detail: z.string().nullable(),
            records: z
              .array(
                z.object({
                  conversationId: z.string(),
                  startedAt: instant.nullable(),
                  durationMs: z.number().nullable(),
                  openingLine: z.string().nullable(),
                  userTurns: z.int(),
                }),
              )
              .meta({ description: 'Records that belong to nobody and may be that of the call.' }),
          }),
        )
        .meta({ description: 'Calls to the number of which nobody knows what became.' }),
    }),
  ),
});

const rowDecisionBody = z
  .object({
    decision: z.enum(['theirs', 'not_theirs', 'redial', 'give_up']),
    conversationId: z.string().min(1).optional(),
  })
  .refine(({ decision, conversationId }) => decision.endsWith('theirs') === (conversationId !== undefined), {
    error: 'theirs and not_theirs name a conversationId; redial and give_up do not',
  });

const resolveBody = z
  .object({
    decision: z.enum(['redial', 'give_up']),
    open: z.boolean().default(false).meta({ description: 'With give_up: open calls whose records can no longer be read, too.' }),
  })
  .refine(({ decision, open }) => !open || decision === 'give_up', { error: 'open goes with give_up only' });

const setOff = z.string().nullable().meta({
  description: 'How rows that are dialled again get going, in words; null: there are none, or they are under way.',
});

const rowDecided = z.object({ campaignId: z.string(), row: z.int(), setOff });

const resolved = z.object({
  campaignId: z.string(),
  recipients: z.int(),
  apart: z.int().meta({ description: 'Rows that are left, since their records cannot be told apart.' }),
  tooEarly: z.int().meta({ description: 'Batches that cannot be decided about yet.' }),
  decidableAt: instant.nullable(),
  openGivenUp: z.int(),
  setOff,
});

/** Of calls of which nobody knows what became. */
export const doubtShapes = {
  listDoubtful: { params: campaignParams, answer: doubtfulRows },
  resolveRow: { params: rowParams, body: rowDecisionBody, answer: rowDecided },
  resolveAll: { params: campaignParams, body: resolveBody, answer: resolved },
};
