import { z } from 'zod';
import { serviceApis } from '../rules/service-api.ts';
import { campaignParams, counts, instant } from './fields.ts';
import { ask, change, read, under } from './operation.ts';

const campaignStates = [
  'importing', 'draft', 'scheduled', 'running', 'paused', 'draining', 'completed', 'cancelled', 'failed',
] as const; // prettier-ignore

export const callbackCounts = z
  .object({
    open: z.int(),
    overdue: z.int().describe('Of those, the ones whose time has passed while nobody could dial.'),
    nextDueAt: instant.nullable(),
    unclear: z.int(),
    ended: z.object({ kept: z.int(), late: z.int(), missed: z.int(), cancelled: z.int() }),
  })
  .nullable()
  .describe('Promises to call people back; null: the campaign never had any.');

export const countedShare = z
  .object({ count: z.int(), of: z.int(), share: z.number().nullable(), low: z.number().nullable(), high: z.number().nullable() })
  .meta({ id: 'CountedShare', description: 'A count, its share (0 to 1), and the interval for 95 of 100 (Wilson); null where `of` is 0.' });

const campaignSummary = z
  .object({
    campaignId: z.string(),
    name: z.string().nullable(),
    api: z.enum(serviceApis).describe('The interface of the service through which it calls (`SVC_API`).'),
    state: z.enum(campaignStates),
    stateReason: z.string().nullable().describe('Why it is paused or has failed.'),
    round: z.int(),
    createdAt: instant,
    total: z.int().describe('Data rows of the list.'),
    done: z.int().describe('Rows with an outcome, rejected ones included.'),
    open: z.int().describe('Calls that were sent and have no result yet.'),
    planned: z.int().describe('Calls that were planned and not sent.'),
    waiting: z.int(),
    nextDueAt: instant.nullable(),
    outcomes: counts,
    dispositions: counts,
    results: counts.describe('Talks by what they came to, by the rules of the campaign (`results`).'),
    goal: z
      .object({ results: z.array(z.string()).describe('The results that are the goal.'), ...countedShare.shape })
      .nullable()
      .describe('How often talks reached the goal: their count, of all talks, and the rate. Null: no result is a goal.'),
    unresolved: z.int().describe('Rows about which a person has to decide.'),
    batches: counts,
    rejected: z.int(),
    needs: z.int().describe('Things that only a person can set right.'),
    why: z.string().nullable().describe('One sentence: why no call is placed now; null while one may be, and once nothing is left to do.'),
    fix: z
      .object({
        cause: z.string().describe('A stable name, such as `outside_hours`, `paused`, `key_refused`, `no_worker`, `temporal`.'),
        todo: z.string().nullable().describe('What to do about it, in sentences; null: it ends by itself.'),
        action: z.enum(['resume', 'recover', 'decide', 'limits']).nullable().describe('The operation that does it.'),
      })
      .nullable()
      .describe('What mends it; null where `why` is.'),
  })
  .meta({ id: 'CampaignSummary' });

const campaignList = z.object({ campaigns: z.array(campaignSummary) });

const need = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['failed', 'paused']), reason: z.string().nullable() }),
  z.object({ kind: z.literal('unresolved'), rows: z.int(), apart: z.int() }),
  z.object({ kind: z.literal('callbacks'), unclear: z.int(), overdue: z.int() }),
  z.object({ kind: z.literal('caller_out'), phoneNumberId: z.string(), reason: z.string() }),
  z.object({ kind: z.literal('hook_silent'), sinceAt: instant }),
  z.object({ kind: z.literal('hook_failed'), hook: z.enum(['on_completion', 'on_pause']) }),
  z.object({ kind: z.literal('clocks_apart'), apartMs: z.int() }),
]);

/** What `carillon status` reads from the database. */
const campaignDetail = campaignSummary
  .extend({
    needs: z.array(need).describe('What only a person can set right.'),
    pausesSeen: z.int().describe('To send along with a decision to resume that is made from this answer.'),
    standstill: z
      .object({
        reason: z.string(),
        sinceAt: instant.nullable(),
        untilAt: instant.nullable(),
        calls: z.int().nullable(),
        lines: z.int().nullable(),
        rule: z.string().nullable(),
      })
      .nullable(),
    pacing: z
      .object({
        maxConcurrentCalls: z.int(),
        warmUp: z.int(),
        pace: z.number(),
        paceCutAt: instant.nullable(),
        account: z.object({ lines: z.int(), free: z.int(), share: z.number() }).nullable(),
        allowed: z.int().describe('Calls that may be on the line now.'),
        onLine: z.int(),
        startsPerMinute: z.number().nullable(),
        startsInLastMinute: z.int(),
      })
      .nullable()
      .describe('Null once the campaign has ended.'),
    callers: z.array(
      z.object({
        phoneNumberId: z.string(),
        state: z.enum(['in', 'out']),
        reason: z.string().nullable(),
        checkedAt: instant.nullable(),
        calls: z.int(),
      }),
    ),
    hooks: z.object({
      preDialSilentSinceAt: instant.nullable(),
      completion: z.enum(['pending', 'delivered', 'failed']).nullable(),
      pause: z.enum(['pending', 'delivered', 'failed']).nullable(),
    }),
    doubt: z.object({
      waitingForWords: z.int(),
      waitingForEvidence: z.int(),
      mostCounted: z.int(),
      wordsBusy: z.int(),
      unresolved: counts,
    }),
    callbacks: callbackCounts,
    pilot: z
      .object({
        sample: z.int(),
        state: z.enum(['calling', 'asked', 'passed']).describe('`asked`: nobody else is called before somebody resumes it.'),
        rows: z.int(),
        called: z.int(),
        gates: z.array(z.string()).describe('Each gate by the calls of the sample, in words.'),
      })
      .nullable()
      .describe('The sample that is called first, or was; null without a pilot.'),
    clocksApartMs: z.int(),
  })
  .meta({ id: 'Campaign' });

const campaignFile = z
  .object({
    file: z.record(z.string(), z.unknown()).nullable().describe('Its settings as they were written, without defaults.'),
    yaml: z.string().nullable().describe('The same as the text of a campaign file.'),
  })
  .meta({ id: 'CampaignFile' });

const created = z
  .object({
    campaignId: z.string(),
    result: z
      .enum(['started', 'attached', 'ended'])
      .describe('attached: the database had it from the same file and list; ended: and it has come to its end.'),
    imported: z.boolean(),
    state: z.string(),
    round: z.int().nullable(),
    rowsTotal: z.int(),
    rowsRejected: z.int(),
    notes: z.array(z.string()).describe('How the list was read.'),
    warnings: z.array(z.string()).describe('What a person should know although it begins.'),
  })
  .meta({ id: 'Created' });

const createQuery = z.object({
  allow_partial: z.stringbool().default(false).describe('Start even if not everyone can be called before the end.'),
});

/** What `carillon check --json` prints, with its messages. */
const checked = z
  .looseObject({
    startable: z.boolean(),
    refusal: z.string().nullable().describe('Why a start would be refused for its file, its list, its agent or one of its caller numbers.'),
    warnings: z.array(z.string()),
    rows: z.int(),
    accepted: z.int(),
  })
  .meta({ id: 'Check' });

export const campaignOperations = under('campaigns', {
  listCampaigns: read('GET /campaigns', 'read', 'List all campaigns, newest first', { answer: campaignList }),
  createCampaign: change('POST /campaigns', 'operate', 'Import a campaign and start it', {
    more: 'As carillon start: refuses what that refuses, and attaches to a campaign that the database has from the same file and list.',
    action: 'start',
    files: ['campaign', 'list'],
    query: createQuery,
    answer: created,
    status: 201,
  }),
  startExample: change('POST /example', 'operate', 'Start the example campaign on the sandbox of this server', {
    more: 'Only where the server runs with its own sandbox, as in carillon dev: 300 made-up people, and no real phone rings.',
    action: 'start',
    answer: created,
    status: 201,
  }),
  showCampaign: read('GET /campaigns/:campaign', 'read', 'Show the state of a campaign, and why no call is placed now', {
    params: campaignParams,
    answer: campaignDetail,
  }),
  readCampaignFile: read(
    'GET /campaigns/:campaign/file',
    'operate',
    'Read what the file of a campaign says, to begin another one with it',
    {
      more:
        'As it was started: limits, hours and retries that were changed since are not in it. Comments were not kept. Null for ' +
        'campaigns that an earlier version began.',
      params: campaignParams,
      answer: campaignFile,
    },
  ),
  checkCampaign: ask('POST /campaigns/check', 'read', 'Check a campaign and its list without placing a call; changes nothing', {
    files: ['campaign', 'list'],
    answer: checked,
    refuses: [422],
  }),
});
