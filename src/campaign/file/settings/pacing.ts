import { z } from 'zod';
import { adjustableLimits, type AdjustableLimit, type CampaignRules, type BreakerRules } from '../../../rules/campaign-rules.ts';
import { duration, whole, rulesOf, share, shapeOf, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

// prettier-ignore
const settings = {
  max_concurrent_calls: { schema: whole(1, 100_000).default(10), rules: 'maxConcurrentCalls', label: 'Concurrent calls',
    help: 'Calls that may be on the line at once.',
    form: { part: 'calls', type: 'number', usual: '5' } },
  starts_per_minute: { schema: whole(1, 1_000_000).optional(), rules: 'startsPerMinute', label: 'Starts per minute',
    help: 'Most calls begun in any 60 seconds.' },
  batch_size: { schema: whole(1, 1000).default(20), rules: 'batchSize', label: 'Batch size', help: 'Calls per request.' },
  refill_threshold: { schema: whole(1, 100_000).optional(), rules: 'refillThreshold',
    help: 'Free slots at which the next batch is planned.' },
  warm_up: { schema: duration(0).prefault('0s'), rules: 'warmUpMs', help: 'All lines are in use only after this long; fewer before.' },
  priority: { schema: whole(1, 100).default(10), rules: 'priority', label: 'Priority',
    help: 'Weight among campaigns that share an account, 1 to 100.' },
} as const satisfies SettingGroup;

const pacing = z.strictObject(shapeOf(settings), { error: 'write a mapping such as { max_concurrent_calls: 10 }' }).refine(
  // A limit below 1 has its own error, so nothing is compared with it.
  ({ refill_threshold: slots = 1, max_concurrent_calls: most }) => most < 1 || slots <= most,
  {
    path: ['refill_threshold'],
    error: 'write at most max_concurrent_calls: more slots than that are never free',
  },
);

export const pacingSettings = {
  pacing: { schema: pacing.prefault({}), help: 'How fast calls are begun.', settings },
} as const satisfies SettingGroup;

/** Frozen form. Default refill threshold: a fifth of the capacity, at most one batch, to avoid a POST for every ended call. */
export function pacingRules({ pacing: written }: Written<typeof pacingSettings>): CampaignRules['pacing'] {
  const { max_concurrent_calls: lines, batch_size: batch } = written;
  const { refill_threshold: slots = Math.min(batch, Math.ceil(lines / 5)) } = written;
  return rulesOf(settings, { ...written, refill_threshold: slots });
}

interface Adjustable {
  key: string;
  label: string;
  help: string;
  bounds: z.ZodType<number>;
  isLiftable: boolean;
}

export const adjustable = Object.fromEntries(
  Object.entries(settings).flatMap(([key, { schema, help, rules, ...more }]): [string, Adjustable][] => {
    if (!('label' in more) || !adjustableLimits.some((name) => name === rules)) return [];
    const isLiftable = schema instanceof z.ZodOptional;
    return [[rules, { key, label: more.label, help, bounds: schema.unwrap(), isLiftable }]];
  }),
) as Readonly<Record<AdjustableLimit, Adjustable>>;

export function meaningOf({ help }: Adjustable): string {
  return `${help.slice(0, 1).toLowerCase()}${help.slice(1)}`.replace(/\.$/, '');
}

// prettier-ignore
const breakerParts = {
  failure_share: { schema: share.prefault('50%'), rules: 'failureShare', help: 'Share of failed calls, such as 50%.' },
  window: { schema: duration(60_000).prefault('30m'), rules: 'windowMs', help: 'Calls of this last stretch of time count.' },
  min_calls: { schema: whole(1, 100_000).default(20), rules: 'minCalls', help: 'Fewer calls than this say nothing.' },
  cool_down: { schema: duration(60_000).optional(), rules: 'coolDownMs',
    help: 'The campaign resumes by itself after this long; without it an operator resumes it.' },
} as const satisfies SettingGroup;

const breakerFix = 'write off, or a mapping such as { failure_share: 50%, window: 30m, min_calls: 20 }';
const breaker = z.union([z.literal(['off', false]).transform(() => null), z.strictObject(shapeOf(breakerParts), { error: breakerFix })], {
  error: breakerFix,
});

// prettier-ignore
export const breakerSettings = {
  breaker: { schema: breaker.prefault({}), help: 'When the campaign pauses by itself because too many calls fail, or off.' },
} as const satisfies SettingGroup;

/** Frozen form; null: off. */
export function breakerRules({ breaker: written }: Written<typeof breakerSettings>): BreakerRules | null {
  return written === null ? null : rulesOf(breakerParts, written);
}
