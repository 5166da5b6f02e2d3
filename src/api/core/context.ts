import type { Config } from '../../config.ts';
import type { ServiceClock } from '../../convai/service-clock.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import type { Logger } from '../../logger.ts';

/** What the routes work with. */
export interface ApiContext {
  config: Config;
  store: Store;
  logger: Logger;
  /** The clock of the service, or this machine's while it does not answer. */
  clock: () => Promise<ServiceClock>;
  /** Real epoch milliseconds. */
  nowReal: () => number;
}

/** Service time, whole milliseconds. */
export async function serviceNow({ clock }: Pick<ApiContext, 'clock'>): Promise<number> {
  return Math.round((await clock()).now());
}
