import { adjustable } from '../../../campaign/file/settings/pacing.ts';
import { adjustableLimits, type AdjustableLimit, type PacingLimits } from '../../../rules/campaign-rules.ts';
import type { AccountLimits } from '../../../ledger/limits/adjustments.ts';
import { UsageError } from '../../../shared/input/errors.ts';

export interface AdjustFlags extends Partial<Record<AdjustableLimit, string>> {
  account: boolean;
  keepFree?: string;
  movedFrom?: string;
  yes: boolean;
  reset: boolean;
  json: boolean;
}

/** The flag of a limit; `--max-concurrent-calls` is read as `maxConcurrentCalls`. */
export function flagOf(name: AdjustableLimit): string {
  return `--${adjustable[name].key.replaceAll('_', '-')}`;
}

/** The bounds are those of the campaign file, whose words say what to write. `isLiftable`: whether `none` lifts it. */
function readLimit(name: AdjustableLimit, text: string, { bounds, isLiftable } = adjustable[name]): number | null {
  if (isLiftable && text === 'none') return null;
  const parsed = bounds.safeParse(/^-?\d+$/.test(text) ? Number(text) : Number.NaN);
  if (parsed.success) return parsed.data;
  const advice = `${parsed.error.issues[0]?.message ?? 'write a number'}${isLiftable ? ', or none for no limit' : ''}`;
  throw new UsageError(`${flagOf(name)} is ${JSON.stringify(text)}; ${advice}.`);
}

/** What a person wants of a campaign. Throws UsageError. */
export function readCampaignFlags(flags: AdjustFlags): Partial<PacingLimits> {
  if (flags.keepFree !== undefined)
    throw new UsageError('--keep-free is for the whole account: carillon adjust --account --keep-free 30%.');
  if (flags.movedFrom !== undefined)
    throw new UsageError('--moved-from is for the whole account: carillon adjust --account --moved-from <address>.');
  const wanted = adjustableLimits.flatMap((name) => {
    const text = flags[name];
    return text === undefined ? [] : [[name, readLimit(name, text)]];
  });
  return Object.fromEntries(wanted) as Partial<PacingLimits>;
}

/** What a person wants of the account. Throws UsageError. */
export function readAccountFlags(flags: AdjustFlags): Partial<AccountLimits> {
  const { maxConcurrentCalls, keepFree } = flags;
  const foreign = adjustableLimits.find((name) => name !== 'maxConcurrentCalls' && flags[name] !== undefined);
  if (foreign !== undefined || flags.reset) {
    const flag = foreign === undefined ? '--reset' : flagOf(foreign);
    throw new UsageError(`${flag} is for a campaign: name one instead of --account, such as carillon adjust reminders.`);
  }
  const lines = { ...adjustable.maxConcurrentCalls, isLiftable: true };
  return {
    ...(maxConcurrentCalls === undefined ? {} : { maxConcurrentCalls: readLimit('maxConcurrentCalls', maxConcurrentCalls, lines) }),
    ...(keepFree === undefined ? {} : { keepFree: readShare(keepFree) }),
  };
}

/** Thousandths. */
function readShare(text: string): number {
  const percent = Number(/^(\d{1,2}(?:\.\d)?)\s?%$/.exec(text.trim())?.[1] ?? Number.NaN);
  if (!Number.isNaN(percent)) return Math.round(percent * 10);
  throw new UsageError(`--keep-free is ${JSON.stringify(text)}; write a share such as 30%, from 0% to 99%.`);
}
