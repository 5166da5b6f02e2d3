import { z } from 'zod';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { duration } from './kinds.ts';
import { rulesOf, shapeOf, type SettingGroup, type Written } from './setting.ts';

// prettier-ignore
const settings = {
  dispatch_margin: { schema: duration(0).prefault('10m'), rules: 'dispatchMarginMs',
    help: 'How long a window must stay open beyond the request.' },
  settle: { schema: duration(60_000).prefault('30m'), rules: 'settleMs', help: 'No record for this long: unreached.' },
  analysis_wait: { schema: duration(0).prefault('15m'), rules: 'analysisWaitMs',
    help: 'How long the results of a finished call are awaited.' },
  late_delivery: { schema: duration(0).prefault('15m'), rules: 'lateDeliveryMs',
    help: 'How long a server that hung may still act on a request.' },
  late_lookback: { schema: duration(60_000).prefault('2h'), rules: 'lateLookbackMs',
    help: 'How far back each look at the list of the service reads at least.' },
  poll: { schema: duration(1000).prefault('10s'), rules: 'pollMs', help: 'Pause between two looks at the list while calls are open.' },
  clock_tolerance: { schema: duration(10_000).prefault('5m'), rules: 'clockToleranceMs',
    help: 'By how much a time in a record may be off, and clocks may differ for anybody to be dialled.' },
  ring_limit: { schema: duration(0).prefault('60s'), rules: 'ringLimitMs',
    help: 'A record without words may have lasted this long and still count as a call that nobody answered, where the service counts the ringing.' },
} as const satisfies SettingGroup;
const advanced = z.strictObject(shapeOf(settings), { error: 'write a mapping of durations' }).prefault({});

/** Assumptions where the service documents nothing. */
export const advancedSettings = {
  advanced: { schema: advanced, help: 'Times that rarely need to be changed.' },
} as const satisfies SettingGroup;

/** As frozen. */
export function timingRules({ advanced }: Written<typeof advancedSettings>): CampaignRules['timing'] {
  return rulesOf(settings, advanced);
}
