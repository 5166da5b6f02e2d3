import type { Control, Rehearse } from '../../../operations/control/control.ts';
import type { ServiceClock } from '../../../service/port/service-clock.ts';
import type { Logger } from '../../../shared/logger.ts';

/** What the routes work with. */
export interface ApiContext extends Control {
  logger: Logger;
  /** The clock of the service, or this machine's while it does not answer. */
  clock: () => Promise<ServiceClock>;
  /** Default: nothing can be rehearsed here. */
  rehearse?: Rehearse;
}

/** Service time, whole milliseconds. */
export async function serviceNow({ clock }: Pick<ApiContext, 'clock'>): Promise<number> {
  return Math.round((await clock()).now());
}
