import { z } from 'zod';
import { splitOpeningLine } from '../../rules/conversation-override.ts';
import { literalSecrets } from './literal-secrets.ts';
import { advancedSettings } from './settings/advanced.ts';
import { breakerSettings } from './settings/breaker.ts';
import { callerSettings } from './settings/caller.ts';
import { capSettings, needlessCaps } from './settings/caps.ts';
import { hookSettings } from './settings/hooks.ts';
import type { JsonShape } from './settings/kinds.ts';
import { listSettings } from './settings/list.ts';
import { pacingSettings } from './settings/pacing.ts';
import { recordSettings } from './settings/records.ts';
import { doubtSettings, retrySettings } from './settings/retry.ts';
import { shapeOf, type SettingGroup } from './settings/setting.ts';
import { timeSettings } from './settings/times.ts';
import { wordSettings } from './settings/words.ts';
import { openStretches, weeklyHours } from './weekly-hours.ts';

/** Every setting of the campaign file. */
export const campaignSettings = {
  ...callerSettings,
  ...listSettings,
  ...wordSettings,
  ...timeSettings,
  ...capSettings,
  ...retrySettings,
  ...pacingSettings,
  ...doubtSettings,
  ...breakerSettings,
  ...hookSettings,
  ...recordSettings,
  ...advancedSettings,
} as const satisfies SettingGroup;

const campaign = z.strictObject(shapeOf(campaignSettings), { error: 'write a mapping that begins with id:' });

/** What may stand in a campaign file. Its output holds milliseconds, minutes and defaults; its keys are the file's own. */
export const campaignSchema = campaign.superRefine((settings, context) => {
  const problem = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
  const { first_message: line, conversation_config_override: settingsOfCall, starts_at: start, ends_at: end } = settings;
  if (line !== undefined && settingsOfCall !== undefined && splitOpeningLine(settingsOfCall).line !== undefined)
    problem(['first_message'], 'write the opening line in one place: here, or as agent.first_message of conversation_config_override');
  if (start !== undefined && end !== undefined && start >= end) problem(['ends_at'], 'write a time after starts_at');
  if (settings.retry.reset_after !== undefined && end === undefined)
    problem(['retry', 'reset_after'], 'set ends_at as well: with a budget that is renewed the campaign would never end by itself');
  if (Array.isArray(settings.retry.unknown) && settings.on_unknown === 'hold')
    problem(
      ['retry', 'unknown'],
      'write on_unknown: redial as well, knowing that somebody may be called twice; or leave it out, and a person decides',
    );
  for (const [index, { by }] of settings.caps.entries())
    if (by === 'person' && settings.list.id === undefined)
      problem(['caps', index, 'by'], 'name the column of the person with list.id, or count by number');
  for (const { index, fix } of needlessCaps(settings.caps)) problem(['caps', index], fix);
  for (const { path, fix } of literalSecrets(settings)) context.addIssue({ code: 'custom', path, message: fix, params: { secret: true } });
  const marginMinutes = settings.advanced.dispatch_margin / 60_000;
  const stretches = settings.hours === null ? [] : openStretches(weeklyHours(settings.hours));
  const windowFix = 'write a longer window: nothing is dialled in its last part, advanced.dispatch_margin (10m by default)';
  for (const { day, minutes } of stretches) if (minutes <= marginMinutes) problem(['hours', day], windowFix);
});

/** What a campaign file says, with defaults. */
export type CampaignSettings = z.output<typeof campaignSchema>;

/** The JSON Schema (draft 2020-12) of the campaign file: the program's own schema, with a description of every setting. */
export function campaignJsonSchema(): JsonShape {
  const schema = z.toJSONSchema(campaignSchema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' });
  return { ...schema, title: 'Carillon campaign' };
}
