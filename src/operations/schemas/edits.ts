import { z } from 'zod';
import { retriableOutcomes } from '../../rules/outcome.ts';
import { steered } from './steer.ts';
import { promiseStates } from '../../rules/callback-rules.ts';
import { campaignParams, instant, several } from './common.ts';
import { rowParams } from './rows.ts';

const callback = z
  .object({
    row: z.int(),
    externalId: z.string().nullable(),
    state: z.enum(promiseStates).describe('`late`: the phone rang after its time. `missed`: the call was not requested in time.'),
    dueAt: instant.nullable().describe('Null where it is not clear when.'),
    untilAt: instant.nullable().describe('The call is requested before.'),
    isOverdue: z.boolean().describe('Open, and its time has passed while nobody could dial.'),
    local: z
      .string()
      .nullable()
      .meta({ description: 'What their clock shows then.', examples: ['2030-11-30 17:00'] }),
    zones: z.array(z.string()),
    said: z.string().nullable().describe('What was collected in the call.'),
    fromAttempt: z.string().nullable().describe('The call in which they asked for it.'),
    madeAt: instant,
    madeBy: z.string().nullable().describe('Null: the person called asked for it.'),
    reason: z.string().nullable(),
    keptBy: z.string().nullable().describe('The call by which it ended.'),
    endedAt: instant.nullable(),
  })
  .meta({ id: 'Callback' });

const callbackBody = z.strictObject({
  at: z
    .string()
    .min(1)
    .max(40)
    .meta({ description: 'Local time of the person called, or an instant with its offset.', examples: ['2030-11-30 17:00'] }),
});
const told = { campaignId: z.string(), row: z.int(), notice: z.string().nullable() };

const dryRun = z.boolean().default(false).describe('Says what would be done, and changes nothing.');

const place = {
  column: z.string().nullable().describe('Where it is wrong.'),
  hint: z.string().nullable().describe('What is wrong and what to do. It may name the cell.'),
};

const withdrawBody = z
  .object({
    ids: z.array(z.string().min(1)).min(1).max(10_000).optional().describe("In the list's id column."),
    rows: z.array(z.int().min(1)).min(1).max(10_000).optional().describe('Numbers of rows, from 1.'),
    reason: z.string().max(1000).optional(),
    dryRun,
  })
  .refine(({ ids, rows }) => (ids === undefined) !== (rows === undefined), { error: 'name rows by ids or by rows' });

export const withdrawn = z.object({
  campaignId: z.string(),
  dryRun: z.boolean(),
  withdrawn: z.int(),
  left: z
    .array(
      z.object({
        key: z.union([z.string(), z.int()]),
        row: z.int().nullable(),
        why: z
          .enum(['withdrawing', 'call_open', 'already_ended', 'not_found'])
          .describe(
            '`withdrawing`: its planned or open call is asked back from the service; if it has rung, the row ends with it, and is not called again. `call_open`: the service cannot give it back, and the row is left as it is.',
          ),
      }),
    )
    .describe('Rows that are not withdrawn, or not yet.'),
  notice: steered.shape.notice,
});

const fixBody = z
  .object({
    rows: z
      .array(
        z.object({
          row: z.int().min(1).describe('Number of the row, from 1.'),
          cells: z.record(z.string().min(1), z.string()).meta({
            description: 'Other cells by the names of their columns; what is left out stays.',
            examples: [{ phone: '+12125550123' }],
          }),
        }),
      )
      .min(1)
      .max(500),
    dryRun,
  })
  .refine(({ rows }) => new Set(rows.map(({ row }) => row)).size === rows.length, { error: 'name each row once', path: ['rows'] });

const fixed = z
  .object({
    campaignId: z.string(),
    dryRun: z.boolean(),
    rows: z.array(
      z.object({
        row: z.int(),
        result: z
          .enum(['corrected', 'unchanged', 'failed'])
          .describe('`corrected`: it is in line now. `unchanged`: it was, with these cells. `failed`: it is as it was.'),
        code: z.string().nullable().describe('Why it failed, as the list reader or an update of the list says it; else null.'),
        ...place,
      }),
    ),
    round: z.int().nullable().describe('The round that was started; null: the campaign goes on in its own, or no row is in line.'),
    notice: steered.shape.notice,
  })
  .meta({ id: 'FixedRows' });

const addBody = z.object({
  rows: z
    .array(
      z.object({
        cells: z.record(z.string().min(1), z.string()).meta({
          description: 'Cells by the names of the columns of the list; what is left out is empty. The column of the id must be there.',
          examples: [{ id: 'lead-17', phone: '+12125550123' }],
        }),
      }),
    )
    .min(1)
    .max(500),
});

const added = z
  .object({
    campaignId: z.string(),
    rows: z
      .array(
        z.object({
          result: z
            .enum(['accepted', 'known', 'failed'])
            .describe(
              '`accepted`: it is in line. `known`: the campaign has a row of that id, which stays as it is. `failed`: it was not added.',
            ),
          row: z.int().nullable().describe('Row of the campaign; null where it failed.'),
          state: z.enum(['waiting', 'open', 'done']).nullable().describe('Of that row; null where it failed.'),
          code: z.string().nullable().describe('Why it failed, as the list reader says it; else null.'),
          ...place,
        }),
      )
      .describe('In the order of the request.'),
    notice: steered.shape.notice,
  })
  .meta({ id: 'AddedRows' });

const retryBody = z.object({ outcomes: z.array(z.enum(retriableOutcomes)).min(1) });

export const retried = z.object({
  campaignId: z.string(),
  rows: z.int(),
  round: z.int().nullable().describe('The round that was started; null: no row is in line.'),
});

const ofCampaign = { params: campaignParams };

export const editShapes = {
  withdrawRows: { ...ofCampaign, body: withdrawBody, answer: withdrawn },
  addRows: { ...ofCampaign, body: addBody, answer: added, refuses: [409, 429] },
  fixRows: { ...ofCampaign, body: fixBody, answer: fixed },
  retryRows: { ...ofCampaign, body: retryBody, answer: retried },

  listCallbacks: {
    params: campaignParams,
    query: z.object({ state: several(z.enum(promiseStates)) }),
    answer: z.object({ callbacks: z.array(callback) }),
  },
  setCallback: { params: rowParams, body: callbackBody, answer: z.object({ ...told, dueAt: instant }), refuses: [409] },
  cancelCallback: { params: rowParams, answer: z.object(told), refuses: [409] },
};
