import type { Command } from 'commander';
import type { Control } from '../../../operations/control/control.ts';
import { readServiceTime } from '../../../operations/control/service.ts';
import { endOfTerm, type EntryTerms } from '../../../operations/control/suppress.ts';
import { UsageError } from '../../../shared/input/errors.ts';

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

/** The terms that the flags name, read by the service's time. Throws UsageError. */
export async function readTerms({ campaign, reason, expires }: EntryFlags, control: Pick<Control, 'config' | 'now'>): Promise<EntryTerms> {
  const expiresAt = expires === undefined ? null : readExpiry(expires, await readServiceTime(control));
  return { campaign, reason, expiresAt };
}

function readExpiry(text: string, now: number): number {
  const at = endOfTerm(text, now);
  if (at === null)
    throw new UsageError(`--expires is ${JSON.stringify(text)}; write a duration such as 90d, or a date such as 2030-12-31.`);
  if (at <= now) throw new UsageError(`--expires is ${text}, which has passed; write a later date.`);
  return at;
}
