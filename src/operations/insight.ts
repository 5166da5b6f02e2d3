import { z } from 'zod';
import type { ResultsFormat } from '../presentation/results/file.ts';
import { callbackStates } from '../rules/callback-rules.ts';
import { bases, consentKinds } from '../rules/consent.ts';
import { outcomes } from '../rules/outcome.ts';
import { countedShare, callbackCounts } from './campaigns.ts';
import { campaignParams, counts, instant, several } from './fields.ts';
import { download, read, under } from './operation.ts';

const waitingGroups = z.object({
  waiting: z
    .array(
      z.object({
        rule: z.string().describe('What keeps the rows: `due` (nothing of their own), `retry`, `not_before`, `outside_hours`, …'),
        rows: z.int(),
        fromAt: instant,
        toAt: instant.describe('The first and the last instant at which one of them is looked at again.'),
      }),
    )
    .describe('The largest group first.'),
});

const funnel = z
  .object({
    listed: z.int(),
    usable: z.int().describe('Without rows that were refused at import.'),
    called: z.int(),
    answered: z.int(),
    completed: z.int(),
    notCalled: counts.describe('Rows that have an outcome and were never called, by outcome.'),
  })
  .meta({ id: 'Funnel' });

const course = z
  .object({
    stepMs: z.number(),
    points: z.array(
      z.object({
        at: instant,
        starts: z.int(),
        ends: z.int(),
        open: z.int(),
        allowed: z.int(),
        limited: z.int().describe('Requests that the service refused because of its rate limit (429).'),
      }),
    ),
    pauses: z.array(z.object({ fromAt: instant, toAt: instant.nullable(), reason: z.string().nullable() })),
  })
  .meta({ id: 'Course' });

const lines = z.array(z.object({ value: z.string(), count: z.int(), share: z.number() }));
const callTotals = {
  calls: z.int(),
  open: z.int(),
  answered: z.int(),
  answerRate: z.number().nullable(),
  talkSeconds: z.number().nullable(),
};
const callLines = z.array(z.object({ value: z.union([z.string(), z.number()]), ...callTotals }));

const lawForecast = z
  .object({
    basis: z.enum(bases).nullable().describe('What the campaign file states that its calls rest on.'),
    consent: z
      .array(z.object({ country: z.string(), kind: z.enum(consentKinds), rows: z.int(), source: z.string() }))
      .describe('Laws that ask for consent, and the rows for which they hold.'),
    unconfirmed: z
      .array(z.object({ id: z.string(), what: z.string(), rows: z.int(), source: z.string() }))
      .describe('Rules that could not be confirmed at their source: what of them, and for how many rows they hold.'),
  })
  .meta({ id: 'Law' });

/** What `carillon report --json` prints. */
const report = z
  .object({
    campaignId: z.string(),
    name: z.string().nullable(),
    state: z.string(),
    stateReason: z.string().nullable().describe('Why it is paused or has failed.'),
    createdAt: instant,
    firstCallAt: instant.nullable(),
    lastCallAt: instant.nullable(),
    rows: z.object({ total: z.int(), ended: z.int() }),
    calls: z.object(callTotals).nullable(),
    outcome: lines.optional(),
    doubt: lines.optional().describe('Unresolved rows by their cause.'),
    unreached: lines.optional().describe('Exhausted rows by their reason.'),
    disposition: callLines.optional(),
    result: lines.optional().describe('Talks by what they came to, where the campaign has rules for that (`results`).'),
    goal: z
      .object({ talks: countedShare, people: countedShare })
      .nullable()
      .optional()
      .describe('How often the goal was reached: in talks, and with people who were called and have an outcome. Null: no rule is a goal.'),
    attempt: callLines.optional(),
    hour: callLines.optional().describe("Hours 0 to 23 of the recipients' own time."),
    week: z.array(z.object({ weekday: z.int().describe('0 for Monday.'), hour: z.int(), ...callTotals })).optional(),
    day: callLines.optional(),
    zone: callLines.optional(),
    caller: z.array(z.object({ value: z.union([z.string(), z.number()]), ...callTotals, days: callLines })).optional(),
    collected: z.record(z.string(), lines).optional(),
    evaluation: z.record(z.string(), lines).optional(),
    funnel,
    callbacks: callbackCounts,
    course: course.nullable().describe('Null before the first call.'),
    law: lawForecast,
    changes: z
      .array(z.looseObject({ seq: z.int(), at: instant, type: z.string(), data: z.record(z.string(), z.unknown()).optional() }))
      .describe('Changes of limits, agent, caller numbers and house rules, oldest first: what may lie behind another answer rate.'),
    cost: z
      .object({ amount: z.number(), currency: z.string(), perMinute: z.number(), perGoal: z.number().nullable() })
      .nullable()
      .describe('What the time on the line has cost, by the price of the campaign file, without its rounding per call; null without one.'),
  })
  .meta({ id: 'Report' });

export const resultTypes = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const satisfies Record<ResultsFormat, string>;

const resultsParams = campaignParams.extend({ format: z.enum(Object.keys(resultTypes) as ResultsFormat[]) });

export const whichResults = z.object({
  outcome: z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .pipe(z.array(z.enum([...outcomes, 'in_progress'])))
    .optional(),
  result: several(z.string().min(1)).describe('Only rows whose last talk came to this.'),
  since: z.iso.datetime({ offset: true }).optional().describe('Only rows that changed at this instant or later.'),
});

const resultsQuery = whichResults.extend({
  safe_cells: z
    .stringbool()
    .default(false)
    .describe('CSV: an apostrophe before whatever a spreadsheet would run, also in the cells of the list.'),
  bom: z.stringbool().default(false).describe('CSV: begins with a byte order mark, as Excel wants it.'),
});

const htmlReportQuery = z.object({
  with: several(z.string().min(1)).describe('Other campaigns to set beside it.'),
  people: z.stringbool().default(false).describe('Adds the first rows of the lists, with their numbers.'),
});

const resultPageQuery = whichResults.extend({
  after: z.coerce.number().int().min(0).default(0).describe('`next` of the page before.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

const values = z.record(z.string(), z.unknown()).nullable();

/** Rows as in the JSON Lines export. */
const resultPage = z.object({
  rows: z.array(
    z
      .object({
        row: z.int(),
        cells: z.record(z.string(), z.string()).describe('By the columns of the list.'),
        surplusCells: z.array(z.string()).optional(),
        outcome: z.enum([...outcomes, 'in_progress']),
        reason: z.string().nullable(),
        attempts: z.int(),
        result: z.string().nullable().describe('What the last talk came to, by the rules of the campaign.'),
        callback: z
          .object({ dueAt: instant.nullable(), state: z.enum(callbackStates) })
          .nullable()
          .describe('The last promise to call them back; null: there was none.'),
        disposition: z.string().nullable(),
        detail: z.string().nullable(),
        conversationId: z.string().nullable(),
        firstDialedAt: instant.nullable(),
        lastDialedAt: instant.nullable(),
        endedAt: instant.nullable(),
        durationMs: z.number().nullable(),
        audio: z.string().nullable(),
        candidates: z.array(z.string()),
        collected: values,
        evaluation: values,
      })
      .meta({ id: 'Result' }),
  ),
  next: z.int().nullable().describe('`after` of the next page; null on the last one.'),
});

const file = z.any().describe('The file.');

export const insightOperations = under('insight', {
  showWaiting: read('GET /campaigns/:campaign/waiting', 'read', 'Count waiting rows by the rule that keeps them', {
    params: campaignParams,
    answer: waitingGroups,
  }),
  showFunnel: read('GET /campaigns/:campaign/funnel', 'read', 'Count how many rows came how far', {
    params: campaignParams,
    answer: funnel,
  }),
  showCourse: read('GET /campaigns/:campaign/course', 'read', 'Show calls, limits and pauses over time', {
    params: campaignParams,
    answer: course,
  }),
  showReport: read(
    'GET /campaigns/:campaign/report',
    'read',
    'Count rows and calls by outcome, disposition, attempt, time, zone, caller and collected value',
    { more: 'As carillon report --json prints it, funnel and course included.', params: campaignParams, answer: report },
  ),
  downloadReport: download(
    'GET /campaigns/:campaign/report.html',
    'read',
    'Download the report as one HTML file with charts and proof, as carillon report --html writes it',
    {
      more:
        'The judge reads the log, and asks the service nothing. With people, which takes the role operate and is written to ' +
        'the log, it holds the first rows of each list with their numbers.',
      params: campaignParams,
      query: htmlReportQuery,
      produces: { content: file, types: ['text/html'] },
      refuses: [422],
    },
  ),
  listResults: read('GET /campaigns/:campaign/results', 'operate', 'Read what came of each row, page by page', {
    more: 'The rows hold the numbers of the list, so this takes the role operate and is written to the log.',
    params: campaignParams,
    query: resultPageQuery,
    answer: resultPage,
  }),
  downloadResults: download(
    'GET /campaigns/:campaign/results.:format',
    'operate',
    'Download every row of the list with what came of it, as carillon results writes it',
    {
      more:
        'The rows hold the numbers of the list, so this takes the role operate and is written to the log. In CSV the cells of ' +
        'the list are as they were read: ask with safe_cells if the file is opened in a spreadsheet.',
      params: resultsParams,
      query: resultsQuery,
      produces: { content: file, types: Object.values(resultTypes) },
      refuses: [422],
    },
  ),
});
