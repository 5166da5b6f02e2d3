import { pacing } from '../../campaign-file/pacing-schema.ts';
import type { AccountLimits } from '../../ledger/limits/adjustments.ts';
import type { PacingAdjustments } from '../../ledger/rows/campaigns.ts';
import { UsageError } from '../terminal/usage-error.ts';

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

const { max_concurrent_calls: lines, starts_per_minute: starts, batch_size: size, priority } = pacing.shape;

/** The bounds are those of the campaign file, whose words say what to write. */
function readWhole(flag: string, text: string, schema: Pick<typeof lines, 'safeParse'>): number {
  const parsed = schema.safeParse(/^-?\d+$/.test(text) ? Number(text) : Number.NaN);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${flag} is ${JSON.stringify(text)}; ${parsed.error.issues[0]?.message ?? 'write a number'}.`);
}

function readLimit(flag: string, text: string, schema: Pick<typeof lines, 'safeParse'>): number | null {
  if (text === 'none') return null;
  try {
    return readWhole(flag, text, schema);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(error.message.replace(/\.$/, ', or none for no limit.'));
    throw error;
  }
}

/** What a person wants of a campaign. Throws UsageError. */
export function readCampaignWish(flags: AdjustFlags): PacingAdjustments {
  if (flags.keepFree !== undefined)
    throw new UsageError('--keep-free is for the whole account: carillon adjust --account --keep-free 30%.');
  if (flags.movedFrom !== undefined)
    throw new UsageError('--moved-from is for the whole account: carillon adjust --account --moved-from <address>.');
  const { maxConcurrentCalls, startsPerMinute, batchSize } = flags;
  return {
    ...(maxConcurrentCalls === undefined
      ? {}
      : { maxConcurrentCalls: readWhole('--max-concurrent-calls', maxConcurrentCalls, lines) }),
    ...(startsPerMinute === undefined
      ? {}
      : { startsPerMinute: readLimit('--starts-per-minute', startsPerMinute, required(starts)) }),
    ...(batchSize === undefined ? {} : { batchSize: readWhole('--batch-size', batchSize, size) }),
    ...(flags.priority === undefined ? {} : { priority: readWhole('--priority', flags.priority, priority) }),
  };
}

function required(schema: typeof starts) {
  return schema.unwrap();
}

/** What a person wants of the account. Throws UsageError. */
export function readAccountWish(flags: AdjustFlags): Partial<AccountLimits> {
  const { maxConcurrentCalls, keepFree, startsPerMinute, batchSize } = flags;
  const foreign = Object.entries({
    '--starts-per-minute': startsPerMinute,
    '--batch-size': batchSize,
    '--priority': flags.priority,
    '--reset': flags.reset ? '' : undefined,
  }).find(([, value]) => value !== undefined);
  if (foreign !== undefined)
    throw new UsageError(
      `${foreign[0]} is for a campaign: name one instead of --account, such as carillon adjust reminders.`,
    );
  return {
    ...(maxConcurrentCalls === undefined
      ? {}
      : { maxConcurrentCalls: readLimit('--max-concurrent-calls', maxConcurrentCalls, lines) }),
    ...(keepFree === undefined ? {} : { keepFree: readShare(keepFree) }),
  };
}

/** Thousandths. */
function readShare(text: string): number {
  const percent = Number(/^(\d{1,2}(?:\.\d)?)\s?%$/.exec(text.trim())?.[1] ?? Number.NaN);
  if (!Number.isNaN(percent)) return Math.round(percent * 10);
  throw new UsageError(`--keep-free is ${JSON.stringify(text)}; write a share such as 30%, from 0% to 99%.`);
}
