import { pacing } from '../../campaign-file/pacing-schema.ts';
import type { AccountLimits } from '../../ledger/limits/adjustments.ts';
import type { PacingAdjustments } from '../../ledger/rows/campaigns.ts';
import { UsageError } from '../../input/usage-error.ts';

export interface AdjustFlags {
  account: boolean;
  maxConcurrentCalls?: string;
  startsPerMinute?: string;
  batchSize?: string;
  priority?: string;
  keepFree?: string;
  movedFrom?: string;
  yes: boolean;
  reset: boolean;
  json: boolean;
}

interface Limit {
  flag: string;
  /** The bounds are those of the campaign file, whose words say what to write. */
  schema: Pick<typeof pacing.shape.batch_size, 'safeParse'>;
  /** Whether `none` lifts it. */
  orNone: boolean;
}

const { shape } = pacing;
const campaignLimits: Readonly<Record<keyof PacingAdjustments, Limit>> = {
  maxConcurrentCalls: { flag: '--max-concurrent-calls', schema: shape.max_concurrent_calls, orNone: false },
  startsPerMinute: { flag: '--starts-per-minute', schema: shape.starts_per_minute.unwrap(), orNone: true },
  batchSize: { flag: '--batch-size', schema: shape.batch_size, orNone: false },
  priority: { flag: '--priority', schema: shape.priority, orNone: false },
};
const campaignKeys = Object.keys(campaignLimits) as (keyof PacingAdjustments)[];

function readLimit({ flag, schema, orNone }: Limit, text: string): number | null {
  if (orNone && text === 'none') return null;
  const parsed = schema.safeParse(/^-?\d+$/.test(text) ? Number(text) : Number.NaN);
  if (parsed.success) return parsed.data;
  const advice = `${parsed.error.issues[0]?.message ?? 'write a number'}${orNone ? ', or none for no limit' : ''}`;
  throw new UsageError(`${flag} is ${JSON.stringify(text)}; ${advice}.`);
}

/** What a person wants of a campaign. Throws UsageError. */
export function readCampaignWish(flags: AdjustFlags): PacingAdjustments {
  if (flags.keepFree !== undefined)
    throw new UsageError('--keep-free is for the whole account: carillon adjust --account --keep-free 30%.');
  if (flags.movedFrom !== undefined)
    throw new UsageError('--moved-from is for the whole account: carillon adjust --account --moved-from <address>.');
  const wanted = campaignKeys.flatMap((key) => {
    const text = flags[key];
    return text === undefined ? [] : [[key, readLimit(campaignLimits[key], text)]];
  });
  return Object.fromEntries(wanted) as PacingAdjustments;
}

/** What a person wants of the account. Throws UsageError. */
export function readAccountWish(flags: AdjustFlags): Partial<AccountLimits> {
  const { maxConcurrentCalls, keepFree } = flags;
  const foreign = campaignKeys.find((key) => key !== 'maxConcurrentCalls' && flags[key] !== undefined);
  if (foreign !== undefined || flags.reset) {
    const flag = foreign === undefined ? '--reset' : campaignLimits[foreign].flag;
    throw new UsageError(
      `${flag} is for a campaign: name one instead of --account, such as carillon adjust reminders.`,
    );
  }
  const lines = { ...campaignLimits.maxConcurrentCalls, orNone: true };
  return {
    ...(maxConcurrentCalls === undefined ? {} : { maxConcurrentCalls: readLimit(lines, maxConcurrentCalls) }),
    ...(keepFree === undefined ? {} : { keepFree: readShare(keepFree) }),
  };
}

/** Thousandths. */
function readShare(text: string): number {
  const percent = Number(/^(\d{1,2}(?:\.\d)?)\s?%$/.exec(text.trim())?.[1] ?? Number.NaN);
  if (!Number.isNaN(percent)) return Math.round(percent * 10);
  throw new UsageError(`--keep-free is ${JSON.stringify(text)}; write a share such as 30%, from 0% to 99%.`);
}
