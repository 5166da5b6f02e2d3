import { z } from 'zod';
import { defaultRetryDelays } from '../../domain/attempts/retry-schedule.ts';
import type { CampaignRules, RetryDelay, RetryDelays, RetryDisposition } from '../../domain/campaign-rules.ts';
import { parseDuration } from '../../input/duration.ts';
import { duration, durationShape, readBy, whole } from './kinds.ts';
import { rulesOf, shapeOf, withoutUndefined, type Setting, type SettingGroup, type Written } from './setting.ts';

const mostDelays = 20;

function parseRetryDelays(value: unknown): RetryDelays | null {
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

const delaysFix =
  'write a duration such as 5m, next_day, a list of up to 20 of them for the first, second, … retry, or never';
const delayShape = { anyOf: [{ const: 'next_day' }, durationShape] };
const delaysShape = { type: 'array' as const, items: delayShape, minItems: 1, maxItems: mostDelays };
const retryDelays = readBy(parseRetryDelays, delaysFix)
  .meta({ anyOf: [{ enum: ['never', 'next_day'] }, durationShape, delaysShape] })
  .optional();

const delays = {
  busy: { schema: retryDelays, help: 'Delay, delays, or never, after a busy line.' },
  no_answer: { schema: retryDelays, help: 'Delay, delays, or never, after no answer.' },
  unreached: { schema: retryDelays, help: 'Delay, delays, or never, when nobody answered and nothing says why.' },
  voicemail: { schema: retryDelays, help: 'Delay, delays, or never, after voicemail.' },
  failed: { schema: retryDelays, help: 'Delay, delays, or never, after a failed call.' },
  unknown: {
    schema: retryDelays,
    help: 'never, or a delay after which a person is dialled who may have been called already.',
  },
} as const satisfies Record<RetryDisposition, Setting>;

const settings = {
  max_attempts: {
    schema: whole(1, 100).default(3),
    help: 'Attempts that count, per recipient.',
    rules: 'maxAttempts',
  },
  max_attempts_per_number: {
    schema: whole(1, 1000).optional(),
    help: 'Attempts that count, per number, over all campaigns.',
    rules: 'maxAttemptsPerNumber',
  },
  reset_after: {
    schema: duration(60_000).optional(),
    help: 'Attempts longer ago than this no longer count against either budget.',
    rules: 'resetAfterMs',
  },
  max_uncounted: {
    schema: whole(1, 100).default(3),
    help: 'Failures of the carrier in a row that do not count.',
    rules: 'maxUncounted',
  },
  jitter: {
    schema: duration(0).prefault('0s'),
    help: 'Each delay is lengthened by up to this.',
    rules: 'jitterMs',
  },
  ...delays,
} as const satisfies SettingGroup;

/** How often, and when, people are called again. */
export const retrySettings = {
  retry: {
    schema: z
      .strictObject(shapeOf(settings), { error: 'write a mapping such as { max_attempts: 3, busy: 30m }' })
      .prefault({}),
    help: 'How often and when people are called again.',
  },
} as const satisfies SettingGroup;

/** What happens where nobody knows whether, or whom, a call has reached. */
export const doubtSettings = {
  on_unknown: {
    schema: z.literal(['hold', 'redial'], { error: 'write hold or redial' }).default('hold'),
    help: 'What happens to calls of which nobody knows whether they were placed: hold (a person decides) or redial.',
  },
  shared_words: {
    schema: z.literal(['wait', 'unresolved'], { error: 'write wait or unresolved' }).default('wait'),
    help: 'What happens to people whose calls the service could not tell apart: wait (one is called at a time) or unresolved (all are, and those in doubt end unresolved).',
    rules: 'sharedWords',
  },
} as const satisfies SettingGroup;

/** What a person chose when the fate of a call is not known: without a delay of their own it is dialled again after this long. */
const redialUnknownAfterMs = 30 * 60_000;

/** As frozen. */
export function retryRules({
  retry,
  on_unknown: onUnknown,
}: Written<typeof retrySettings & typeof doubtSettings>): CampaignRules['retry'] {
  const { maxUncounted, ...budgets } = rulesOf(settings, retry);
  const { busy, no_answer, unreached, voicemail, failed, unknown } = retry;
  const redial = onUnknown === 'redial' ? { unknown: unknown ?? [redialUnknownAfterMs] } : {};
  const written = withoutUndefined({ busy, no_answer, unreached, voicemail, failed });
  return { ...budgets, delays: { ...defaultRetryDelays, ...written, ...redial }, maxUncounted };
}
