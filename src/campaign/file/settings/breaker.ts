import { z } from 'zod';
import type { BreakerRules } from '../../../rules/campaign-rules.ts';
import { duration, readBy, whole } from './kinds.ts';
import { rulesOf, shapeOf, type SettingGroup, type Written } from './setting.ts';

const shareFix = 'write a share of the calls such as 50%, above 0% and at most 100%';
const share = readBy((value) => {
  const match = typeof value === 'string' ? /^(\d{1,3}(?:\.\d)?)\s?%$/.exec(value.trim()) : null;
  const percent = Number(match?.[1] ?? 0);
  return percent > 0 && percent <= 100 ? percent / 100 : null;
}, shareFix).meta({ type: 'string', pattern: '^\\s*\\d{1,3}(\\.\\d)?\\s?%\\s*$' });

// prettier-ignore
const settings = {
  failure_share: { schema: share.prefault('50%'), rules: 'failureShare', help: 'Share of failed calls, such as 50%.' },
  window: { schema: duration(60_000).prefault('30m'), rules: 'windowMs', help: 'Calls of this last stretch of time count.' },
  min_calls: { schema: whole(1, 100_000).default(20), rules: 'minCalls', help: 'Fewer calls than this say nothing.' },
  cool_down: { schema: duration(60_000).optional(), rules: 'coolDownMs',
    help: 'The campaign resumes by itself after this long; without it an operator resumes it.' },
} as const satisfies SettingGroup;

const breakerFix = 'write off, or a mapping such as { failure_share: 50%, window: 30m, min_calls: 20 }';
const breaker = z.union([z.literal(['off', false]).transform(() => null), z.strictObject(shapeOf(settings), { error: breakerFix })], {
  error: breakerFix,
});

/** When a campaign pauses by itself. */
// prettier-ignore
export const breakerSettings = {
  breaker: { schema: breaker.prefault({}), help: 'When the campaign pauses by itself because too many calls fail, or off.' },
} as const satisfies SettingGroup;

/** As frozen; null: off. */
export function breakerRules({ breaker: written }: Written<typeof breakerSettings>): BreakerRules | null {
  return written === null ? null : rulesOf(settings, written);
}
