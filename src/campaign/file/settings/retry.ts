import { z } from 'zod';
import { defaultRetryDelays } from '../../../rules/attempts/retry-schedule.ts';
import {
  adjustableDelays,
  type CampaignRules,
  type RetryDelay,
  type RetryDelays,
  type RetryDisposition,
} from '../../../rules/campaign-rules.ts';
import { parseDuration } from '../../../shared/input/times.ts';
import { duration, durationShape, readBy, whole, rulesOf, shapeOf } from '../../../shared/input/setting.ts';
import type { Setting, SettingGroup, Written } from '../../../shared/input/setting.ts';
import { picked, withoutUndefined } from '../../../rules/collections.ts';

const mostDelays = 20;

export function parseRetryDelays(value: unknown): RetryDelays | null {
  if (value === 'never') return 'never';
  const written: unknown[] = Array.isArray(value) ? value : [value];
  const delays = written.map(parseDelay).filter((delay): delay is RetryDelay => delay !== null);
  return delays.length === written.length && delays.length > 0 && delays.length <= mostDelays ? delays : null;
}

function parseDelay(value: unknown): RetryDelay | null {
  if (value === 'next_day') return 'next_day';
  const ms = parseDuration(value);
  return ms !== null && ms > 0 ? ms : null;
}

export const delaysFix = 'write a duration such as 5m, next_day, a list of up to 20 of them for the first, second, … retry, or never';
const delayShape = { anyOf: [{ const: 'next_day' }, durationShape] };
const delaysShape = { type: 'array' as const, items: delayShape, minItems: 1, maxItems: mostDelays };
const retryDelays = readBy(parseRetryDelays, delaysFix)
  .meta({ anyOf: [{ enum: ['never', 'next_day'] }, durationShape, delaysShape] })
  .optional();

const delay = (usual: string) => ({ part: 'calls', usual, between: /[,;]+/ }) as const;
// prettier-ignore
const delays = {
  busy: { schema: retryDelays, label: 'Again after a busy line', help: 'Delay, delays, or never, after a busy line.',
    form: delay('30m') },
  no_answer: { schema: retryDelays, label: 'Again after no answer', help: 'Delay, delays, or never, after no answer.',
    form: delay('4h') },
  unreached: { schema: retryDelays, label: 'Again after a call that was not answered', help: 'Delay, delays, or never, when nobody answered and nothing says why.' },
  voicemail: { schema: retryDelays, label: 'Again after a mailbox', help: 'Delay, delays, or never, after voicemail.',
    form: delay('1d') },
  failed: { schema: retryDelays, label: 'Again after a failed call', help: 'Delay, delays, or never, after a failed call.' },
  unknown: { schema: retryDelays, help: 'never, or a delay after which a person is dialled who may have been called already.' },
} as const satisfies Record<RetryDisposition, Setting>;

// prettier-ignore
const settings = {
  max_attempts: { schema: whole(1, 100).default(3), rules: 'maxAttempts', label: 'Attempts for each person',
    help: 'Attempts that count, per recipient.',
    form: { part: 'calls', type: 'number', usual: '3' } },
  max_attempts_per_number: { schema: whole(1, 1000).optional(), rules: 'maxAttemptsPerNumber',
    help: 'Attempts that count, per number, over all campaigns.' },
  reset_after: { schema: duration(60_000).optional(), rules: 'resetAfterMs',
    help: 'Attempts longer ago than this no longer count against either budget.' },
  max_uncounted: { schema: whole(1, 100).default(3), rules: 'maxUncounted', help: 'Failures of the carrier in a row that do not count.' },
  jitter: { schema: duration(0).prefault('0s'), rules: 'jitterMs', help: 'Each delay is lengthened by up to this.' },
  ...delays,
} as const satisfies SettingGroup;
const retryFix = 'write a mapping such as { max_attempts: 3, busy: 30m }';
const retries = z.strictObject(shapeOf(settings), { error: retryFix }).prefault({});

export const retrySettings = {
  retry: { schema: retries, help: 'How often and when people are called again.', settings },
} as const satisfies SettingGroup;

/** Handling of calls when it is unknown whether a call was placed, or to which recipient. */
// prettier-ignore
export const doubtSettings = {
  on_unknown: { schema: z.literal(['hold', 'redial'], { error: 'write hold or redial' }).default('hold'),
    help: 'What happens to calls of which nobody knows whether they were placed: hold (a person decides) or redial.' },
  shared_words: { schema: z.literal(['wait', 'unresolved'], { error: 'write wait or unresolved' }).default('wait'), rules: 'sharedWords',
    help: 'What happens to people whose calls the service could not tell apart: wait (one is called at a time) or unresolved (all are, and those in doubt end unresolved).' },
} as const satisfies SettingGroup;

/** Delay before redialing a call of unknown outcome when `retry.unknown` is not set. */
const redialUnknownAfterMs = 30 * 60_000;

export function retryRules({ retry, on_unknown: onUnknown }: Written<typeof retrySettings & typeof doubtSettings>): CampaignRules['retry'] {
  const { maxUncounted, ...budgets } = rulesOf(settings, retry);
  const redial = onUnknown === 'redial' ? { unknown: retry.unknown ?? [redialUnknownAfterMs] } : {};
  const written = withoutUndefined(picked(retry, adjustableDelays));
  return { ...budgets, delays: { ...defaultRetryDelays, ...written, ...redial }, maxUncounted };
}
