import { z } from 'zod';
import { adjustable } from '../../campaign/file/settings/pacing.ts';
import { adjustableTermNames, adjustableTerms, termTexts } from '../../campaign/file/settings/adjustable.ts';
import { adjustableLimits } from '../../rules/campaign-rules.ts';
import type { AdjustableLimit, AdjustableRules, AdjustableTerms, PacingLimits } from '../../rules/campaign-rules.ts';
import { retriableOutcomes } from '../../rules/outcome.ts';
import { queuedFates } from '../../rules/service-api.ts';
import { campaignParams, instant } from './common.ts';

/** Where a change leaves a campaign. `told`: null, or why its workflow does not know yet; it sees the change at its next plan. */
const steered = z
  .object({
    campaignId: z.string(),
    state: z.string(),
    stateReason: z.string().nullable(),
    round: z.int(),
    notice: z.string().nullable().meta({
      description: 'Null; or why the workflow was not notified: the change holds, and it sees it at its next plan.',
    }),
    queued: z.enum(queuedFates).optional().meta({
      description:
        'Of a pause: what becomes of calls that wait at the service. `never_taken_back`: its interface (SVC_API) cannot give calls back.',
    }),
  })
  .meta({ id: 'Steered' });

const recovered = steered
  .omit({ notice: true, queued: true })
  .extend({ workflowId: z.string().nullable().meta({ description: 'Null: nothing was left to run.' }) })
  .meta({ id: 'Recovered' });

const wish = z.object({
  round: z.int().min(0).optional().meta({
    description: 'The round that was looked at when the decision was made: a later one is left alone (409, `wrong_state`).',
  }),
  pausesSeen: z.int().min(0).optional().meta({
    description: 'How often the campaign had paused by itself when the decision to resume was made: a later pause is not undone.',
  }),
});
const wishBody = wish.nullish();

const pauseBody = wish
  .extend({
    letQueued: z.boolean().optional().meta({
      description: 'True: calls that wait at the service may still ring. Else they are taken back, where its interface can do that.',
    }),
  })
  .nullish();

const resumeBody = wish
  .extend({
    sample: z.boolean().optional().meta({
      description: 'True: another sample of the pilot is called before anybody else. Else everybody is called.',
    }),
  })
  .nullish();

type LimitSchemas = { [Name in AdjustableLimit]: z.ZodType<PacingLimits[Name], PacingLimits[Name]> };
const limitsAs = (schemaOf: (limit: (typeof adjustable)[AdjustableLimit]) => z.ZodType): LimitSchemas =>
  Object.fromEntries(Object.entries(adjustable).map(([name, limit]) => [name, schemaOf(limit)])) as LimitSchemas;

const limits = z.object(limitsAs(({ isLiftable }) => (isLiftable ? z.int().nullable() : z.int())));

const termNames = adjustableTermNames;
type TermBodies = { [Name in keyof AdjustableTerms]: z.ZodType<AdjustableTerms[Name], string> };
const termBodies = Object.fromEntries(
  termNames.map((name) => [name, adjustableTerms[name].schema.describe(adjustableTerms[name].help)]),
) as unknown as TermBodies;
type TermTexts = Record<keyof AdjustableTerms, z.ZodString>;
const terms = z
  .object(Object.fromEntries(termNames.map((name) => [name, z.string()])) as TermTexts)
  .meta({ id: 'AdjustableTerms', description: 'Hours and retries, each as text that a change may have.' });

/** What may be changed as an answer has it: as it holds, and as the campaign file says. */
export function toldAdjustable({ now, file }: { now: AdjustableRules; file: AdjustableRules }) {
  return { limits: limitsIn(now), file: limitsIn(file), terms: termTexts(now), fileTerms: termTexts(file) };
}

function limitsIn(rules: AdjustableRules): PacingLimits {
  return Object.fromEntries(adjustableLimits.map((name) => [name, rules[name]])) as unknown as PacingLimits;
}

const adjustEffect = z
  .object({
    waiting: z.int().meta({ description: 'Rows that wait.' }),
    openNow: z.object({ before: z.int(), after: z.int() }).meta({ description: 'Rows whose hours are open at this minute.' }),
    neverOpen: z.int().meta({ description: 'Rows that could never be called in these hours. A change with any is refused.' }),
    usedUp: z.int().meta({ description: 'Rows that have used up their attempts then, and are not called again.' }),
  })
  .meta({ id: 'AdjustEffect' });

const adjustBody = z
  // The bounds are the campaign file's; its defaults are not: what is left out stays as it is.
  .object(limitsAs(({ bounds, isLiftable }) => (isLiftable ? bounds.nullable().describe('Null: no limit.') : bounds)))
  .extend(termBodies)
  .partial()
  .extend({
    reset: z.boolean().default(false).meta({ description: 'Restores what the campaign file says first.' }),
    dryRun: z.boolean().default(false).meta({ description: 'Says what would come of it, and changes nothing.' }),
  })
  .refine((body) => body.reset || Object.keys(body).some((name) => name !== 'reset' && name !== 'dryRun'), {
    error: 'names nothing to change, and no reset',
  });

export const adjusted = z.object({
  campaignId: z.string(),
  limits: limits.meta({ description: 'That hold from the next batch on.' }),
  file: limits.meta({ description: 'Of the campaign file.' }),
  terms: terms.meta({ description: 'Hours and retries that hold from the next batch on.' }),
  fileTerms: terms.meta({ description: 'Hours and retries of the campaign file.' }),
  effect: adjustEffect.nullable().meta({ description: 'Of a dry run; else null.' }),
  notice: steered.shape.notice,
});

const accountLimits = z
  .object({
    accountId: z.string().meta({ description: 'Address of the service whose calls these are.' }),
    maxConcurrentCalls: z.int().nullable().meta({ description: 'Most calls at once of all campaigns together; null: no limit.' }),
    keepFree: z.number().meta({ description: 'Share of it that stays free for calls of others, such as 0.3.' }),
    pace: z.number().meta({ description: 'Share of all limits that is used now: less than 1 after refusals of the service.' }),
    open: z.int().meta({ description: 'Calls on the line, of all campaigns.' }),
    campaigns: z
      .array(z.object({ campaignId: z.string(), open: z.int(), allowed: z.int() }))
      .meta({ description: 'Campaigns under way: calls on the line, and how many they may have now.' }),
  })
  .meta({ id: 'AccountLimits' });

const accountLimitsBody = z
  .object({
    maxConcurrentCalls: adjustable.maxConcurrentCalls.bounds.nullable().describe('Null: no limit.'),
    keepFree: z.number({ error: 'write a share from 0 to 0.99' }).min(0).max(0.99),
  })
  .partial()
  .refine((body) => Object.keys(body).length > 0, { error: 'names nothing to change' });

const withdrawBody = z
  .object({
    ids: z.array(z.string().min(1)).min(1).max(10_000).optional().meta({ description: "In the list's id column." }),
    rows: z.array(z.int().min(1)).min(1).max(10_000).optional().meta({ description: 'Numbers of rows, from 1.' }),
    reason: z.string().max(1000).optional(),
    dryRun: z.boolean().default(false).meta({ description: 'Says what would be done, and changes nothing.' }),
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
        why: z.enum(['withdrawing', 'call_open', 'already_ended', 'not_found']).meta({
          description:
            '`withdrawing`: its planned or open call is asked back from the service; if it has rung, the row ends with it, and is not called again. `call_open`: the service cannot give it back, and the row is left as it is.',
        }),
      }),
    )
    .meta({ description: 'Rows that are not withdrawn, or not yet.' }),
  notice: steered.shape.notice,
});

const fixBody = z
  .object({
    rows: z
      .array(
        z.object({
          row: z.int().min(1).meta({ description: 'Number of the row, from 1.' }),
          cells: z.record(z.string().min(1), z.string()).meta({
            description: 'Other cells by the names of their columns; what is left out stays.',
            examples: [{ phone: '+12125550123' }],
          }),
        }),
      )
      .min(1)
      .max(500),
    dryRun: z.boolean().default(false).meta({ description: 'Says what would be done, and changes nothing.' }),
  })
  .refine(({ rows }) => new Set(rows.map(({ row }) => row)).size === rows.length, { error: 'name each row once', path: ['rows'] });

const fixed = z
  .object({
    campaignId: z.string(),
    dryRun: z.boolean(),
    rows: z.array(
      z.object({
        row: z.int(),
        result: z.enum(['corrected', 'unchanged', 'failed']).meta({
          description: '`corrected`: it is in line now. `unchanged`: it was, with these cells. `failed`: it is as it was.',
        }),
        code: z.string().nullable().meta({ description: 'Why it failed, as the list reader or an update of the list says it; else null.' }),
        column: z.string().nullable().meta({ description: 'Where it is wrong.' }),
        hint: z.string().nullable().meta({ description: 'What is wrong and what to do. It may name the cell.' }),
      }),
    ),
    round: z
      .int()
      .nullable()
      .meta({ description: 'The round that was started; null: the campaign goes on in its own, or no row is in line.' }),
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
          result: z.enum(['accepted', 'known', 'failed']).meta({
            description:
              '`accepted`: it is in line. `known`: the campaign has a row of that id, which stays as it is. `failed`: it was not added.',
          }),
          row: z.int().nullable().meta({ description: 'Row of the campaign; null where it failed.' }),
          state: z.enum(['waiting', 'open', 'done']).nullable().meta({ description: 'Of that row; null where it failed.' }),
          code: z.string().nullable().meta({ description: 'Why it failed, as the list reader says it; else null.' }),
          column: z.string().nullable().meta({ description: 'Where it is wrong.' }),
          hint: z.string().nullable().meta({ description: 'What is wrong and what to do. It may name the cell.' }),
        }),
      )
      .meta({ description: 'In the order of the request.' }),
    notice: steered.shape.notice,
  })
  .meta({ id: 'AddedRows' });

const houseBody = z.object({
  rules: z
    .string()
    .max(100_000)
    .meta({ description: 'The text of a file of house rules; `{}` lifts them.', examples: ['caps: [{ calls: 3, within: 7d }]'] }),
  dryRun: z.boolean().default(false).meta({ description: 'Say what would come of it, and change nothing.' }),
});

const houseVersion = z.object({ version: z.int(), setAt: instant });

const houseView = z
  .object({
    now: houseVersion
      .extend({ text: z.string().meta({ description: 'As it was written.' }), rules: z.record(z.string(), z.unknown()).nullable() })
      .nullable()
      .meta({ description: 'The version that holds; null: nobody has ever set any.' }),
    says: z.array(z.string()).meta({ description: 'What it says, as sentences.' }),
    before: z.array(houseVersion).meta({ description: 'The newest first.' }),
  })
  .meta({ id: 'HouseRules' });

const houseChange = z
  .object({
    changed: z.boolean().meta({ description: '`false`: they said so already.' }),
    version: z.int(),
    lacking: z
      .array(z.object({ campaignId: z.string(), lacks: z.array(z.enum(['consent', 'opt_out'])) }))
      .meta({ description: 'Campaigns under way that lack what is required, and pause.' }),
    notice: steered.shape.notice,
  })
  .meta({ id: 'HouseChange' });

const retryBody = z.object({ outcomes: z.array(z.enum(retriableOutcomes)).min(1) });

export const retried = z.object({
  campaignId: z.string(),
  rows: z.int(),
  round: z.int().nullable().meta({ description: 'The round that was started; null: no row is in line.' }),
});

const ofCampaign = { params: campaignParams };
const wished = { ...ofCampaign, body: wishBody, answer: steered };

export const steerShapes = {
  pauseCampaign: { ...wished, body: pauseBody },
  resumeCampaign: { ...wished, body: resumeBody },
  drainCampaign: wished,
  cancelCampaign: wished,
  adjustCampaign: { ...ofCampaign, body: adjustBody, answer: adjusted },
  showAccountLimits: { answer: accountLimits },
  adjustAccountLimits: { body: accountLimitsBody, answer: accountLimits.extend({ notice: steered.shape.notice }) },
  showHouseRules: { answer: houseView },
  setHouseRules: { body: houseBody, answer: houseChange },
  recoverCampaign: { ...ofCampaign, answer: recovered },
  withdrawRows: { ...ofCampaign, body: withdrawBody, answer: withdrawn },
  addRows: { ...ofCampaign, body: addBody, answer: added, refuses: [409, 429] },
  fixRows: { ...ofCampaign, body: fixBody, answer: fixed },
  retryRows: { ...ofCampaign, body: retryBody, answer: retried },
};
