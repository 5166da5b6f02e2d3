import { z } from 'zod';
import { adjustable } from '../campaign/file/settings/pacing.ts';
import { adjustableTermNames, adjustableTerms, termTexts } from '../campaign/file/settings/adjustable.ts';
import { adjustableLimits } from '../rules/campaign-rules.ts';
import type { AdjustableLimit, AdjustableRules, AdjustableTerms, PacingLimits } from '../rules/campaign-rules.ts';
import { picked } from '../rules/collections.ts';
import { campaignParams, instant } from './fields.ts';
import { change, read, under } from './operation.ts';
import { steered } from './steering.ts';
const { notice } = steered.shape;
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

/** In effect, and in the campaign file. */
export function adjustableAsJson({ now, file }: { now: AdjustableRules; file: AdjustableRules }) {
  return { limits: picked(now, adjustableLimits), file: picked(file, adjustableLimits), terms: termTexts(now), fileTerms: termTexts(file) };
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
  // The campaign file's bounds, without its defaults: omitted fields stay unchanged.
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

const adjusted = z.object({
  campaignId: z.string(),
  limits: limits.describe('That hold from the next batch on.'),
  file: limits.describe('Of the campaign file.'),
  terms: terms.describe('Hours and retries that hold from the next batch on.'),
  fileTerms: terms.describe('Hours and retries of the campaign file.'),
  effect: adjustEffect.nullable().describe('Of a dry run; else null.'),
  notice,
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

const accountRulesBody = z.object({
  rules: z
    .string()
    .max(100_000)
    .meta({ description: 'The text of a file of house rules; `{}` lifts them.', examples: ['caps: [{ calls: 3, within: 7d }]'] }),
  dryRun: z.boolean().default(false).describe('Say what would come of it, and change nothing.'),
});

const accountRulesVersion = z.object({ version: z.int(), setAt: instant });

const accountRulesView = z
  .object({
    now: accountRulesVersion
      .extend({ text: z.string().describe('As it was written.'), rules: z.record(z.string(), z.unknown()).nullable() })
      .nullable()
      .describe('The version that holds; null: nobody has ever set any.'),
    says: z.array(z.string()).describe('What it says, as sentences.'),
    before: z.array(accountRulesVersion).describe('The newest first.'),
  })
  .meta({ id: 'HouseRules' });

const accountRulesChange = z
  .object({
    changed: z.boolean().describe('`false`: they said so already.'),
    version: z.int(),
    lacking: z
      .array(z.object({ campaignId: z.string(), lacks: z.array(z.enum(['consent', 'opt_out'])) }))
      .describe('Campaigns under way that lack what is required, and pause.'),
    notice,
  })
  .meta({ id: 'HouseChange' });

export const limitOperations = under('campaigns', {
  adjustCampaign: change('POST /campaigns/:campaign/adjust', 'operate', 'Change the limits of a campaign from its next batch on', {
    action: 'adjust',
    params: campaignParams,
    body: adjustBody,
    answer: adjusted,
  }),
  showAccountLimits: read('GET /limits', 'read', 'Show what all campaigns may use together at the service, and what each uses now', {
    answer: accountLimits,
  }),
  adjustAccountLimits: change(
    'POST /limits',
    'admin',
    'Change what all campaigns may use together at the service, from the next batch on',
    {
      more: 'Open calls continue. As carillon adjust --account.',
      action: 'adjust_account',
      body: accountLimitsBody,
      answer: accountLimits.extend({ notice }),
    },
  ),
  showHouseRules: read('GET /house-rules', 'read', 'Show the house rules, to which all campaigns are held besides their own', {
    answer: accountRulesView,
  }),
  setHouseRules: change('POST /house-rules', 'admin', 'Set the house rules for all campaigns, planned calls included', {
    more: 'As carillon rules set: the stricter of house and campaign file binds. Campaigns under way that lack what is required pause.',
    action: 'house_rules',
    body: accountRulesBody,
    answer: accountRulesChange,
  }),
});
