import type { Command } from 'commander';
import { DateTime } from 'luxon';
import { parseDuration } from '../../input/duration.ts';
import { readPhoneNumber } from '../../domain/phone-number.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { accountScope, type Suppression } from '../../ledger/rows/suppressions.ts';
import { requireCampaign } from '../../control/ledger.ts';
import { UsageError } from '../../input/usage-error.ts';

export interface EntryFlags {
  campaign?: string;
  region?: string;
  reason?: string;
  expires?: string;
}

/** The flags of whatever makes entries. */
export function addEntryFlags(command: Command): Command {
  return command
    .option('--campaign <id>', 'only for this campaign (default: all campaigns of the database)')
    .option('--region <country>', 'country of numbers without +, such as US')
    .option('--reason <text>', 'reason, recorded for later')
    .option(
      '--expires <when>',
      'a duration such as 90d, or a last day such as 2030-12-31, until that day has ended in every time zone (default: permanent)',
    );
}

/** An entry of a campaign that does not exist would protect nobody. Throws UsageError and UnknownCampaignError. */
export async function readEntryFlags(
  { campaign: scope = accountScope, reason, expires }: EntryFlags,
  store: Store,
  now: number,
): Promise<Omit<Suppression, 'e164' | 'source'>> {
  const expiresAt = readExpiry(expires, now);
  if (scope !== accountScope) await requireCampaign(store, scope);
  return { scope, reason: reason ?? null, expiresAt };
}

function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const duration = parseDuration(text);
  const at = duration === null ? endOfDay(text) : now + duration;
  if (at === null)
    throw new UsageError(
      `--expires is ${JSON.stringify(text)}; write a duration such as 90d, or a date such as 2030-12-31.`,
    );
  if (at <= now) throw new UsageError(`--expires is ${text}, which has passed; write a later date.`);
  return at;
}

/** A day ends last twelve hours behind UTC. */
const endOfDayBehindUtc = { days: 1, hours: 12 };

/** The end of a date on the last clock of the earth; null for anything else. */
function endOfDay(text: string): number | null {
  const day = DateTime.fromFormat(text, 'yyyy-MM-dd', { zone: 'utc' });
  return day.isValid ? day.plus(endOfDayBehindUtc).toMillis() : null;
}

/** Throws UsageError naming the first that is no number by its place. */
export function readNumbers(numbers: readonly string[], { region }: EntryFlags): string[] {
  const read = numbers.map((text, index) => {
    const number = readPhoneNumber(text, region ?? null);
    if (!number.ok) throw new UsageError(`Number ${index + 1} of ${numbers.length} cannot be used: ${number.hint}.`);
    return number.e164;
  });
  return [...new Set(read)];
}
