import { z } from 'zod';
import type { RetryDelay, RetryDelays } from '../domain/campaign-rules.ts';
import { parseDuration } from '../input/duration.ts';
import { duration, durationShape, readBy, whole } from './settings/kinds.ts';

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

/** `retry:` of a campaign file. */
export const retry = z.strictObject(
  {
    max_attempts: whole(1, 100).default(3),
    max_attempts_per_number: whole(1, 1000).optional(),
    reset_after: duration(60_000).optional(),
    max_uncounted: whole(1, 100).default(3),
    jitter: duration(0).prefault('0s'),
    busy: retryDelays,
    no_answer: retryDelays,
    unreached: retryDelays,
    voicemail: retryDelays,
    failed: retryDelays,
    unknown: retryDelays,
  },
  { error: 'write a mapping such as { max_attempts: 3, busy: 30m }' },
);
