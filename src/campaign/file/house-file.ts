import { z } from 'zod';
import { weeklyHours } from '../../rules/hours/weekly-hours.ts';
import { CampaignFileError } from '../../shared/input/errors.ts';
import { describeIssues } from '../../shared/input/problems.ts';
import { loadCampaignText, readCampaignText } from '../../shared/input/yaml-text.ts';
import { callerLimitsOf, callerSettings } from './settings/caller.ts';
import { capRules, capSettings, needlessCaps } from './settings/caps.ts';
import { shapeOf, type SettingGroup } from '../../shared/input/setting.ts';
import { closedDates, timeSettings } from './settings/times.ts';
import type { AccountRules } from '../../rules/campaign-rules.ts';

const required = z.literal('required', { error: 'write required, or leave it out' }).optional();

// prettier-ignore
const accountRuleSettings = {
  hours: { schema: timeSettings.hours.schema.optional(), help: 'Windows per weekday, in which a campaign may call within its own.' },
  holidays: { schema: timeSettings.holidays.schema, help: 'Days on which no campaign calls.' },
  caps: { schema: capSettings.caps.schema, help: 'How often a number or a person may be called by all campaigns together.' },
  caller_limits: { schema: callerSettings.caller_limits.schema, help: 'How many calls each caller number may make.' },
  consent: { schema: required, help: 'required: no campaign calls without consent: in its file.' },
  opt_out: { schema: required, help: 'required: no campaign calls without opt_out: in its file.' },
} as const satisfies SettingGroup;

const accountRulesFix = 'write hours, holidays, caps, caller_limits, consent: required or opt_out: required';
const accountRulesSchema = z.strictObject(shapeOf(accountRuleSettings), { error: accountRulesFix }).superRefine(({ caps }, context) => {
  for (const { index, fix } of needlessCaps(caps)) context.addIssue({ code: 'custom', path: ['caps', index], message: fix });
});

export interface AccountRulesFile {
  text: string;
  rules: Omit<AccountRules, 'version'>;
}

/** Reads and validates account rules, or their stored text `kept`, with holidays for three years from `nowMs`. Throws CampaignFileError. */
export async function readAccountRulesFile(path: string, nowMs: number, kept?: string): Promise<AccountRulesFile> {
  const text = kept ?? (await loadCampaignText(path));
  const { content, lineOf } = await readCampaignText(path, text);
  const parsed = accountRulesSchema.safeParse(content);
  if (!parsed.success) throw new CampaignFileError(path, describeIssues(parsed.error.issues, content, accountRulesSchema, lineOf));
  const { hours = null, holidays, caps, caller_limits: limits, consent, opt_out: optOut } = parsed.data;
  return {
    text,
    rules: {
      calendar: { hours: hours === null ? null : weeklyHours(hours), closedOn: closedDates(holidays, nowMs) },
      caps: capRules(caps),
      callerLimits: callerLimitsOf(limits) ?? null,
      requires: { consent: consent === 'required', optOut: optOut === 'required' },
    },
  };
}
