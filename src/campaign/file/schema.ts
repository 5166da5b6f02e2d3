import { z } from 'zod';
import { splitOpeningLine } from '../../rules/conversation-override.ts';
import { advancedSettings, timeSettings } from './settings/times.ts';
import { breakerSettings, pacingSettings } from './settings/pacing.ts';
import { callerSettings } from './settings/caller.ts';
import { capSettings, needlessCaps } from './settings/caps.ts';
import { consentProblems, consentSettings } from './settings/consent.ts';
import { hookSettings } from './settings/hooks.ts';
import { type JsonShape, shapeOf, type SettingGroup, type Written } from '../../shared/input/setting.ts';
import { listSettings } from './settings/list.ts';
import { pilotSettings } from './settings/pilot.ts';
import { callbackSettings } from './settings/callbacks.ts';
import { recordSettings } from './settings/records.ts';
import { doubtSettings, retrySettings } from './settings/retry.ts';
import { wordSettings, textsIn } from './settings/words.ts';
import { openStretches, weeklyHours } from '../../rules/hours/weekly-hours.ts';
import { hasQuery, isKeptUrl, isSecretAddress, keptUrlFix } from '../../shared/input/kept-url.ts';

export const campaignSettings = {
  ...callerSettings,
  ...listSettings,
  ...wordSettings,
  ...timeSettings,
  ...consentSettings,
  ...capSettings,
  ...retrySettings,
  ...pacingSettings,
  ...doubtSettings,
  ...breakerSettings,
  ...hookSettings,
  ...recordSettings,
  ...callbackSettings,
  ...pilotSettings,
  ...advancedSettings,
} as const satisfies SettingGroup;

const campaign = z.strictObject(shapeOf(campaignSettings), { error: 'write a mapping that begins with id:' });

/** Input keys are the file's own; output holds milliseconds, minutes and defaults. */
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
      'write on_unknown: redial as well, knowing that a person may be called twice; or leave it out, and a person decides',
    );
  for (const [index, { by }] of settings.caps.entries())
    if (by === 'person' && settings.list.id === undefined && settings.list.person === undefined)
      problem(['caps', index, 'by'], 'name the column of the person with list.person or list.id, or count by number');
  for (const [index, { then }] of settings.results.entries())
    if (then === 'callback' && settings.callback === undefined)
      problem(['results', index, 'then'], 'say with callback: where the record tells when, such as callback: { at: callback_at }');
  for (const [index, { measure }] of settings.gates.entries())
    if (measure === 'goal' ? settings.results.every(({ goal }) => !goal) : isUnnamed(measure, settings.results))
      problem(['gates', index, 'measure'], 'name it among results: as well; no result of the file is counted so');
  for (const [index, { always }] of settings.gates.entries())
    if (!always && settings.pilot === undefined)
      problem(['gates', index], 'write always: true, or a pilot: at whose end the gate is asked');
  if (settings.stays_open !== undefined && settings.list.id === undefined)
    problem(['stays_open'], 'name the column of your own id with list.id: a row that is added twice is known by it');
  if (settings.stays_open !== undefined && settings.stays_open.expires_after === undefined && end === undefined)
    problem(['stays_open'], 'write expires_after: 2h, or ends_at: else somebody may be called about something long past');
  if (settings.stop_at !== undefined && settings.results.every(({ goal }) => !goal))
    problem(
      ['stop_at'],
      'name the goal among results: as well, such as { result: confirmed, collected: confirmed, equals: true, goal: true }',
    );
  if (settings.consent?.purpose !== undefined && settings.purpose === undefined)
    problem(['consent', 'purpose'], 'write purpose: as well, the word that must stand in this column');
  for (const { path, fix } of consentProblems(settings.consent)) problem(path, fix);
  for (const { index, fix } of needlessCaps(settings.caps)) problem(['caps', index], fix);
  for (const { path, fix } of literalSecrets(settings)) context.addIssue({ code: 'custom', path, message: fix, params: { secret: true } });
  const marginMinutes = settings.advanced.dispatch_margin / 60_000;
  const stretches = settings.hours === null ? [] : openStretches(weeklyHours(settings.hours));
  const windowFix = 'write a longer window: nothing is dialled in its last part, advanced.dispatch_margin (10m by default)';
  for (const { day, minutes } of stretches) if (minutes <= marginMinutes) problem(['hours', day], windowFix);
});

function isUnnamed(measure: string, results: readonly { result: string }[]): boolean {
  return measure.startsWith('result.') && results.every(({ result }) => measure !== `result.${result}`);
}

export type CampaignSettings = z.output<typeof campaignSchema>;

export function campaignJsonSchema(): JsonShape {
  const schema = z.toJSONSchema(campaignSchema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' });
  return { ...schema, title: 'Carillon campaign' };
}

interface LiteralSecret {
  path: PropertyKey[];
  fix: string;
}

type WrittenSettings = Written<typeof hookSettings & typeof wordSettings>;

const hookFix = `write where the address stands, ${keptUrlFix}: what follows its "?" may be a key, and would be kept in the database as it is`;
const overrideFix =
  'set it on the agent itself, such as in a header of its own language model, or take it from a column with {{ column }}: what stands here would be kept in the database as it is';
const variableFix =
  'take it from a column of the list with {{ column }}, or keep it with the agent: what stands here would be kept in the database as it is';

const headers = /(^|_)headers$/i;
const secretName = /^secret__|(^|_)(api_?key|authorization|(auth|access|bearer)_?token|secret|password)$/i;
const oneColumn = /^\s*\{\{\s*[\w ]+\s*\}\}\s*$/;

/** Settings with a literal secret. Refused, since the ledger stores settings. */
function literalSecrets(settings: WrittenSettings): LiteralSecret[] {
  const found: LiteralSecret[] = [];
  for (const hook of ['pre_dial', 'on_completion', 'on_pause'] as const) {
    const url = settings[hook]?.url;
    if (url !== undefined && !isKeptUrl(url) && hasQuery(url)) found.push({ path: [hook, 'url'], fix: hookFix });
  }
  for (const { path, text } of textsIn(settings.conversation_config_override, ['conversation_config_override'])) {
    const isNamed = path.some((key) => headers.test(String(key))) || secretName.test(String(path.at(-1)));
    if ((isNamed && isLiteral(text)) || isSecretAddress(text)) found.push({ path, fix: overrideFix });
  }
  for (const [name, value] of Object.entries(settings.variables?.values ?? {})) {
    if (secretName.test(name) && isLiteral(value)) found.push({ path: ['variables', 'values', name], fix: variableFix });
  }
  return found;
}

function isLiteral(text: string): boolean {
  return text !== '' && !oneColumn.test(text);
}
