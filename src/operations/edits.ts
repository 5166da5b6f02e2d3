import { z } from 'zod';
import { callbackStates } from '../rules/callback-rules.ts';
import { retriableOutcomes } from '../rules/outcome.ts';
import { campaignParams, instant, rowParams, several } from './fields.ts';
import { change, read, under } from './operation.ts';
import { steered } from './steering.ts';
const { notice } = steered.shape;
const updateQuery = z.object({
  dry_run: z.stringbool().default(false).describe('Says what would be done, and changes nothing.'),
  add: z.stringbool().default(false).describe('Takes the list even if it looks like that of another campaign.'),
  restore: z.stringbool().default(false).describe('Restores withdrawn rows that the list has.'),
  encoding: z.string().optional().describe('Of a list that is neither UTF-8 nor UTF-16; left out: that of the campaign.'),
});

const updated = z
  .object({
    campaignId: z.string(),
    dryRun: z.boolean(),
    rows: z.int(),
    accepted: z.int(),
    corrected: z.int(),
    unchanged: z.int(),
    failed: z.int(),
    mayStillBeCalled: z.int(),
    failures: z.array(
      z.object({
        code: z.string(),
        count: z.int(),
        examples: z.array(z.object({ row: z.int(), line: z.int().nullable(), id: z.string().nullable(), hint: z.string().nullable() })),
      }),
    ),
    notice: z.string().nullable(),
  })
  .meta({ id: 'Updated' });

const callback = z
  .object({
    row: z.int(),
    externalId: z.string().nullable(),
    state: z.enum(callbackStates).describe('`late`: the phone rang after its time. `missed`: the call was not requested in time.'),
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
const rowAnswer = { campaignId: z.string(), row: z.int(), notice: z.string().nullable() };

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

const withdrawn = z.object({
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
  notice,
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
    notice,
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
    notice,
  })
  .meta({ id: 'AddedRows' });

const retryBody = z.object({ outcomes: z.array(z.enum(retriableOutcomes)).min(1) });

const retried = z.object({
  campaignId: z.string(),
  rows: z.int(),
  round: z.int().nullable().describe('The round that was started; null: no row is in line.'),
});

export const editOperations = under('rows', {
  updateList: change('POST /campaigns/:campaign/update', 'operate', 'Add and correct rows of a campaign that has not ended', {
    more: 'Rows are matched by the id column. Rows that fail leave those of the campaign as they were.',
    action: 'update',
    params: campaignParams,
    files: ['list'],
    query: updateQuery,
    answer: updated,
  }),
  addRows: change('POST /campaigns/:campaign/rows', 'operate', 'Add up to 500 rows to a campaign that has not ended', {
    more:
      'Each row is accepted, known by its id already, or refused; what is answered is durable, and what is refused is as if ' +
      'it had not been sent. Too many at once: 429, and nothing of the request was done.',
    action: 'add',
    params: campaignParams,
    body: addBody,
    answer: added,
    refuses: [409, 429],
  }),
  fixRows: change('POST /campaigns/:campaign/fix', 'operate', 'Correct rejected rows and put them in line', {
    more: 'Other rows are left as they are. The rules are those the campaign was started with. If it has ended, the next round is started.',
    action: 'fix',
    params: campaignParams,
    body: fixBody,
    answer: fixed,
  }),
  withdrawRows: change('POST /campaigns/:campaign/withdraw', 'operate', 'Remove waiting rows from a campaign', {
    more: 'Planned and open calls continue, and rows with an outcome keep it.',
    action: 'withdraw',
    params: campaignParams,
    body: withdrawBody,
    answer: withdrawn,
  }),
  retryRows: change('POST /campaigns/:campaign/retry', 'operate', 'Call rows of an ended campaign again in a new round', {
    more: 'Unresolved rows may have been called already: they are then called twice.',
    action: 'retry',
    params: campaignParams,
    body: retryBody,
    answer: retried,
  }),
  listCallbacks: read('GET /campaigns/:campaign/callbacks', 'operate', 'List promises to call people back, the next one first', {
    more: 'What people said about the time is shown, so this takes the role operate.',
    params: campaignParams,
    query: z.object({ state: several(z.enum(callbackStates)) }),
    answer: z.object({ callbacks: z.array(callback) }),
  }),
  setCallback: change('POST /campaigns/:campaign/rows/:row/callback', 'operate', 'Promise to call a row back, or move the promise', {
    more: 'Also after the row has its outcome, as long as the campaign runs. Hours, law, caps and the do-not-call list hold.',
    action: 'set_callback',
    params: rowParams,
    body: callbackBody,
    answer: z.object({ ...rowAnswer, dueAt: instant }),
    refuses: [409],
  }),
  cancelCallback: change('DELETE /campaigns/:campaign/rows/:row/callback', 'operate', 'Cancel the promise to call a row back', {
    more: 'If the person was talked to, the row ends; otherwise it is called as before.',
    action: 'cancel_callback',
    params: rowParams,
    answer: z.object(rowAnswer),
    refuses: [409],
  }),
});
