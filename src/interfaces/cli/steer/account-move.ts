import type { Config } from '../../../shared/config.ts';
import type { Store } from '../../../ledger/open-ledger.ts';
import { moveService } from '../../../ledger/campaign/service-move.ts';
import { readAccountFlags, type AdjustFlags } from './adjust-flags.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeJson } from '../terminal/json-output.ts';
import { plural } from '../../../shared/input/figures.ts';
import { accountIdOf, readClock } from '../../../operations/control/service.ts';
import { UsageError } from '../../../shared/input/errors.ts';

interface Move {
  config: Config;
  store: Store;
  flags: AdjustFlags;
  /** The address that the campaigns were started against. */
  from: string;
}

/**
 * Has the campaigns of a service that moved go on at SVC_BASE_URL. Throws UsageError, and ServiceUnusableError when nobody answers there.
 */
export async function moveAccount(io: Io, { config, store, flags, from }: Move): Promise<void> {
  if (Object.keys(readAccountFlags(flags)).length > 0)
    throw new UsageError('--moved-from takes no limits: set the limits of the account in a separate command.');
  const { href, username, password } = parse(from);
  if (username !== '' || password !== '') throw new UsageError('--moved-from contains a user name or password: leave it out.');
  const to = accountIdOf(config);
  // A service must answer there: its clock is what the campaigns will live by.
  const clock = await readClock(config);
  const question = `Has the service at ${href} moved to ${to}, with all its calls and records? If it is a different service, recipients will be called twice.`;
  if (!(await mayBegin(io, flags.yes, question))) return;
  const moved = await moveService(store, { from, to, now: Math.round(clock.now()) });
  if (flags.json) writeJson(io, { from, to, campaigns: moved.map(({ campaignId }) => campaignId) });
  else if (moved.length === 0) io.stdout.write(`No campaign of this database belongs to ${from}; nothing was changed.\n`);
  else {
    const restart = 'Restart the workers with the new SVC_BASE_URL; running campaigns then continue by themselves.';
    io.stdout.write(`${plural(moved.length, 'campaign')} moved from ${from} to ${to}. ${restart}\n`);
  }
}

function parse(address: string): URL {
  if (URL.canParse(address)) return new URL(address);
  throw new UsageError(`--moved-from is ${JSON.stringify(address)}; write the old address in full, such as https://old.example/api.`);
}
