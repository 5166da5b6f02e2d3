import { z } from 'zod';
import { serviceApis } from '../../rules/service-api.ts';
import { campaignParams, counts, instant } from './common.ts';

const campaignStates = [
  'importing', 'draft', 'scheduled', 'running', 'paused', 'draining', 'completed', 'cancelled', 'failed',
] as const; // prettier-ignore

export const promiseCounts = z
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

/** Everything that `carillon status` tells from the database. */
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
    callbacks: promiseCounts,
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

export const funnel = z
  .object({
    listed: z.int(),
    usable: z.int().describe('Without rows that were refused at import.'),
    called: z.int(),
    answered: z.int(),
    completed: z.int(),
    notCalled: counts.describe('Rows that have an outcome and were never called, by outcome.'),
  })
  .meta({ id: 'Funnel' });

export const course = z
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

const campaignFile = z
  .object({
    file: z.record(z.string(), z.unknown()).nullable().describe('Its settings as they were written, without defaults.'),
    yaml: z.string().nullable().describe('The same as the text of a campaign file.'),
  })
  .meta({ id: 'CampaignFile' });

export const campaignShapes = {
  listCampaigns: { answer: campaignList },
  showCampaign: { params: campaignParams, answer: campaignDetail },
  readCampaignFile: { params: campaignParams, answer: campaignFile },
  showWaiting: { params: campaignParams, answer: waitingGroups },
  showFunnel: { params: campaignParams, answer: funnel },
  showCourse: { params: campaignParams, answer: course },
};

/** What came of a campaign that was sent. */
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

/** What `carillon check --json` prints, and what it says beside it. */
const checked = z
  .looseObject({
    startable: z.boolean(),
    refusal: z.string().nullable().describe('Why a start would be refused for its file, its list, its agent or one of its caller numbers.'),
    warnings: z.array(z.string()),
    rows: z.int(),
    accepted: z.int(),
  })
  .meta({ id: 'Check' });

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

export const createShapes = {
  createCampaign: { files: ['campaign', 'list'], query: createQuery, answer: created, status: 201 },
  startExample: { answer: created, status: 201 },
  checkCampaign: { files: ['campaign', 'list'], answer: checked, refuses: [422] },
  updateList: { params: campaignParams, files: ['list'], query: updateQuery, answer: updated },
} as const;
