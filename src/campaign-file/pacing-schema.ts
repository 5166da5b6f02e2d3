import { z } from 'zod';
import { duration, readBy, whole } from './setting-kinds.ts';

/** `pacing:` of a campaign file. */
export const pacing = z
  .strictObject(
    {
      max_concurrent_calls: whole(1, 100_000).default(10),
      starts_per_minute: whole(1, 1_000_000).optional(),
      batch_size: whole(1, 1000).default(20),
      refill_threshold: whole(1, 100_000).optional(),
      warm_up: duration(0).prefault('0s'),
      priority: whole(1, 100).default(10),
    },
    { error: 'write a mapping such as { max_concurrent_calls: 10 }' },
  )
  .refine(
    // A limit that cannot be used is told by itself; nothing is compared with it.
    ({ refill_threshold: slots = 1, max_concurrent_calls: most }) => most < 1 || slots <= most,
    {
      path: ['refill_threshold'],
      error: 'write at most max_concurrent_calls: more slots than that are never free',
    },
  );

const shareFix = 'write a share of the calls such as 50%, above 0% and at most 100%';
const share = readBy((value) => {
  const match = typeof value === 'string' ? /^(\d{1,3}(?:\.\d)?)\s?%$/.exec(value.trim()) : null;
  const percent = Number(match?.[1] ?? 0);
  return percent > 0 && percent <= 100 ? percent / 100 : null;
}, shareFix).meta({ type: 'string', pattern: '^\\s*\\d{1,3}(\\.\\d)?\\s?%\\s*$' });

const breakerFix = 'write off, or a mapping such as { failure_share: 50%, window: 30m, min_calls: 20 }';
/** `breaker:` of a campaign file; null: off. */
export const breaker = z.union(
  [
    z.literal(['off', false]).transform(() => null),
    z.strictObject(
      {
        failure_share: share.prefault('50%'),
        window: duration(60_000).prefault('30m'),
        min_calls: whole(1, 100_000).default(20),
        cool_down: duration(60_000).optional(),
      },
      { error: breakerFix },
    ),
  ],
  { error: breakerFix },
);
