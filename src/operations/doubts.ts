import { z } from 'zod';
import { campaignParams, instant, rowParams } from './fields.ts';
import { change, read, under } from './operation.ts';

/** Rows in doubt, with the candidate records. */
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
              .describe('Unassigned records that may be that of the call.'),
          }),
        )
        .describe('Calls to the number whose outcome is unknown.'),
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
    open: z.boolean().default(false).describe('With give_up: open calls whose records can no longer be read, too.'),
  })
  .refine(({ decision, open }) => !open || decision === 'give_up', { error: 'open goes with give_up only' });

const setOff = z
  .string()
  .nullable()
  .describe('How rows that are dialled again get going, in words; null: there are none, or they are under way.');

const rowDecided = z.object({ campaignId: z.string(), row: z.int(), setOff });

const resolved = z.object({
  campaignId: z.string(),
  recipients: z.int(),
  apart: z.int().describe('Rows that are left, since their records cannot be told apart.'),
  tooEarly: z.int().describe('Batches that cannot be decided about yet.'),
  decidableAt: instant.nullable(),
  openGivenUp: z.int(),
  setOff,
});

export const doubtOperations = under('rows', {
  listDoubtful: read('GET /campaigns/:campaign/doubtful', 'operate', 'List unresolved rows with the records that may be theirs', {
    more: 'Opening lines of records are shown, so this takes the role operate. Numbers are masked.',
    params: campaignParams,
    answer: doubtfulRows,
  }),
  resolveRow: change('POST /campaigns/:campaign/rows/:row/resolve', 'operate', 'Decide about one row in doubt', {
    more: 'A record is theirs or not theirs; or the row is dialled again, perhaps a second time, or left as it is.',
    params: rowParams,
    body: rowDecisionBody,
    answer: rowDecided,
  }),
  resolveAll: change('POST /campaigns/:campaign/resolve', 'operate', 'Decide about all unresolved rows together', {
    more: 'With redial: if a lost batch was carried out after all, its recipients are called twice; no record can rule this out.',
    params: campaignParams,
    body: resolveBody,
    answer: resolved,
  }),
});
