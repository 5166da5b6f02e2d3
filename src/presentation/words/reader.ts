import type { ServiceClock } from '../../service/port/service-clock.ts';
import { span } from '../../shared/input/figures.ts';
import { instantText } from '../../shared/input/times.ts';

export interface Reader {
  clock: ServiceClock;
  now: number;
  /** At a command line, where the command that ends it can be entered; default: on the page, or for programs. */
  atCommandLine?: true;
  /** Service time, where the service's clock is shown beside what is read: how far an instant is away is told by it, else by real time. */
  serviceNow?: number;
}

/** `since …`; empty where that is not known. */
export function sinceText(since: number | null, at: Reader): string {
  if (since === null) return '';
  // The clock of a sandbox that was started again may be behind what it said before.
  return `since ${awayFrom(since, at) > 0 ? instantText(since) : when(since, at)}`;
}

/** An instant of the service's time, and how far that is by the clock of whoever reads it. */
export function when(instant: number, at: Reader): string {
  const away = awayFrom(instant, at);
  return `${instantText(instant)} (${away > 0 ? `in ${span(away)}` : `${span(-away)} ago`})`;
}

function awayFrom(instant: number, { clock, now, serviceNow }: Reader): number {
  return serviceNow === undefined ? clock.atReal(instant) - now : instant - serviceNow;
}
