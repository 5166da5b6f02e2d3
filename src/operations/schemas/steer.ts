import { z } from 'zod';
import { adjustable } from '../../campaign/file/settings/pacing.ts';
import { adjustableTermNames, adjustableTerms, termTexts } from '../../campaign/file/settings/adjustable.ts';
import { adjustableLimits } from '../../rules/campaign-rules.ts';
import type { AdjustableLimit, AdjustableRules, AdjustableTerms, PacingLimits } from '../../rules/campaign-rules.ts';
import { queuedFates } from '../../rules/service-api.ts';
import { campaignParams, instant } from './common.ts';

/** Where a change leaves a campaign. `told`: null, or why its workflow does not know yet; it sees the change at its next plan. */
export const steered = z
  .object({
    campaignId: z.string(),
    state: z.string(),
    stateReason: z.string().nullable(),
    round: z.int(),
    notice: z
      .string()
      .nullable()
      .describe('Null; or why the workflow was not notified: the change holds, and it sees it at its next plan.'),
    queued: z
      .enum(queuedFates)
      .optional()
      .describe(
        'Of a pause: what becomes of calls that wait at the service. `never_taken_back`: its interface (SVC_API) cannot give calls back.',
      ),
  })
  .meta({ id: 'Steered' });

const recovered = steered
  .omit({ notice: true, queued: true })
  .extend({ workflowId: z.string().nullable().describe('Null: nothing was left to run.') })
  .meta({ id: 'Recovered' });

const wish = z.object({
  round: z
    .int()
    .min(0)
    .optional()
    .describe('The round that was looked at when the decision was made: a later one is left alone (409, `wrong_state`).'),
  pausesSeen: z
    .int()
    .min(0)
    .optional()
    .describe('How often the campaign had paused by itself when the decision to resume was made: a later pause is not undone.'),
});
const wishBody = wish.nullish();

const pauseBody = wish
  .extend({
    letQueued: z
      .boolean()
      .optional()
      .describe('True: calls that wait at the service may still ring. Else they are taken back, where its interface can do that.'),
  })
  .nullish();

const resumeBody = wish
  .extend({
    sample: z.boolean().optional().describe('True: another sample of the pilot is called before anybody else. Else everybody is called.'),
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
    waiting: z.int().describe('Rows that wait.'),
    openNow: z.object({ before: z.int(), after: z.int() }).describe('Rows whose hours are open at this minute.'),
    neverOpen: z.int().describe('Rows that could never be called in these hours. A change with any is refused.'),
    usedUp: z.int().describe('Rows that have used up their attempts then, and are not called again.'),
  })
  .meta({ id: 'AdjustEffect' });

const adjustBody = z
  // The bounds are the campaign file's; its defaults are not: what is left out stays as it is.
  .object(limitsAs(({ bounds, isLiftable }) => (isLiftable ? bounds.nullable().describe('Null: no limit.') : bounds)))
  .extend(termBodies)
  .partial()
  .extend({
    reset: z.boolean().default(false).describe('Restores what the campaign file says first.'),
    dryRun: z.boolean().default(false).describe('Says what would come of it, and changes nothing.'),
  })
  .refine((body) => body.reset || Object.keys(body).some((name) => name !== 'reset' && name !== 'dryRun'), {
    error: 'names nothing to change, and no reset',
  });

export const adjusted = z.object({
  campaignId: z.string(),
  limits: limits.describe('That hold from the next batch on.'),
  file: limits.describe('Of the campaign file.'),
  terms: terms.describe('Hours and retries that hold from the next batch on.'),
  fileTerms: terms.describe('Hours and retries of the campaign file.'),
  effect: adjustEffect.nullable().describe('Of a dry run; else null.'),
  notice: steered.shape.notice,
});

const accountLimits = z
  .object({
    accountId: z.string().describe('Address of the service whose calls these are.'),
    maxConcurrentCalls: z.int().nullable().describe('Most calls at once of all campaigns together; null: no limit.'),
    keepFree: z.number().describe('Share of it that stays free for calls of others, such as 0.3.'),
    pace: z.number().describe('Share of all limits that is used now: less than 1 after refusals of the service.'),
    open: z.int().describe('Calls on the line, of all campaigns.'),
    campaigns: z
      .array(z.object({ campaignId: z.string(), open: z.int(), allowed: z.int() }))
      .describe('Campaigns under way: calls on the line, and how many they may have now.'),
  })
  .meta({ id: 'AccountLimits' });

const accountLimitsBody = z
  .object({
    maxConcurrentCalls: adjustable.maxConcurrentCalls.bounds.nullable().describe('Null: no limit.'),
    keepFree: z.number({ error: 'write a share from 0 to 0.99' }).min(0).max(0.99),
  })
  .partial()
  .refine((body) => Object.keys(body).length > 0, { error: 'names nothing to change' });

const houseBody = z.object({
  rules: z
    .string()
    .max(100_000)
    .meta({ description: 'The text of a file of house rules; `{}` lifts them.', examples: ['caps: [{ calls: 3, within: 7d }]'] }),
  dryRun: z.boolean().default(false).describe('Say what would come of it, and change nothing.'),
});

const houseVersion = z.object({ version: z.int(), setAt: instant });

const houseView = z
  .object({
    now: houseVersion
      .extend({ text: z.string().describe('As it was written.'), rules: z.record(z.string(), z.unknown()).nullable() })
      .nullable()
      .describe('The version that holds; null: nobody has ever set any.'),
    says: z.array(z.string()).describe('What it says, as sentences.'),
    before: z.array(houseVersion).describe('The newest first.'),
  })
  .meta({ id: 'HouseRules' });

const houseChange = z
  .object({
    changed: z.boolean().describe('`false`: they said so already.'),
    version: z.int(),
    lacking: z
      .array(z.object({ campaignId: z.string(), lacks: z.array(z.enum(['consent', 'opt_out'])) }))
      .describe('Campaigns under way that lack what is required, and pause.'),
    notice: steered.shape.notice,
  })
  .meta({ id: 'HouseChange' });

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
};
