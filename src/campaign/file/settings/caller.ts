import { z } from 'zod';
import type { CallerLimits } from '../../../rules/caller-choice.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { duration, shapeOf, text, whole, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

const idFix = 'write 1 to 64 lower-case letters, digits, ".", "_" or "-", beginning with a letter or digit';
const id = z
  .string({ error: idFix })
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, { error: idFix })
  .refine((written) => written !== 'account', {
    error: 'choose another id: "account" is the scope of do-not-call entries for all campaigns',
  });

export function campaignIdFrom(name: string): string {
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .slice(0, 64);
  return id === '' ? 'my-campaign' : id;
}

const callerFix = 'write the id of the imported caller number, in quotes if it is all digits, or a list of such ids';
const caller = text(callerFix);
const callers = z
  .union([caller.transform((one) => [one]), z.array(caller).min(1).max(100)], { error: callerFix })
  .refine((numbers) => new Set(numbers).size === numbers.length, { error: 'name each number once' });

// prettier-ignore
const limits = {
  per_hour: { schema: whole(1, 100_000).optional(), help: 'At most so many calls from one number in any hour.' },
  per_day: { schema: whole(1, 1_000_000).optional(), help: 'At most so many calls from one number in any 24 hours.' },
  spread: { schema: duration(1000).refine((ms) => ms <= 3_600_000, { error: 'write at most 1h' }).optional(),
    help: 'At least so long between two calls of one number, at most 1h.' },
  stick: { schema: duration(0).optional(),
    help: 'Whoever has been called keeps the number, and waits for it so long where it is full; then another one calls. Left out: however long.' },
} as const satisfies SettingGroup;
const limitsFix = 'write caller_limits: { per_day: 80 }, with per_hour as well or in its place';
const callerLimits = z
  .strictObject(shapeOf(limits), { error: limitsFix })
  .refine(({ per_hour: hour, per_day: day, spread }) => [hour, day, spread].some((each) => each !== undefined), { error: limitsFix });

// prettier-ignore
export const callerSettings = {
  id: { schema: id, label: 'Id of the campaign',
    help: 'Names the campaign in every command: lower-case letters, digits, ".", "_", "-".',
    form: { part: 'name', hint: 'Names it everywhere. It cannot be changed after the start.' } },
  name: { schema: text('write text of at most 200 characters').optional(), label: 'Name', help: 'A title for people.',
    form: { part: 'name', hint: 'For people; may be empty.' } },
  agent_id: { schema: text('write the id of the agent that speaks, in quotes if it is all digits'), label: 'Agent',
    help: 'The agent that speaks.', form: { part: 'words' } },
  from_phone_number_id: { schema: callers, label: 'Caller number', help: 'The imported number that calls, or several.',
    form: { part: 'words', hint: 'With several, each person is called from one that is near to them.', between: /[\n,]+/ } },
  caller_choice: { schema: z.literal(['region', 'rotation'], { error: 'write region or rotation' }).default('region'),
    help: 'Which of several numbers calls: one of the region of the recipient first (region), or each in turn (rotation).' },
  caller_limits: { schema: callerLimits.optional(), settings: limits,
    help: 'How many calls each caller number may make; the calls of all campaigns of the database count.' },
} as const satisfies SettingGroup;

export function callerRules(
  written: Pick<Written<typeof callerSettings>, 'from_phone_number_id' | 'caller_choice' | 'caller_limits'>,
): Pick<CampaignRules, 'callers'> {
  const { from_phone_number_id: numbers, caller_choice: choice } = written;
  const limits = callerLimitsOf(written.caller_limits);
  return { callers: { numbers, choice, ...(limits === undefined ? {} : { limits }) } };
}

export function callerLimitsOf(written: z.output<typeof callerSettings.caller_limits.schema>): CallerLimits | undefined {
  if (written === undefined) return undefined;
  const { per_hour: perHour = null, per_day: perDay = null, spread: spreadMs, stick: stickMs } = written;
  return { perHour, perDay, ...(spreadMs !== undefined && { spreadMs }), ...(stickMs !== undefined && { stickMs }) };
}
