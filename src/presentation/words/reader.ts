import type { ServiceClock } from '../../service/port/service-clock.ts';
import { span } from '../../shared/input/figures.ts';
import { instantText } from '../../shared/input/times.ts';

export interface Reader {
  clock: ServiceClock;
  now: number;
  /** Fixes name commands; default: page and API wording. */
  atCommandLine?: true;
  /** Set if the reader sees the service's clock: distances are then in service time, else real. */
  serviceNow?: number;
}

/** `since …`; empty if unknown. */
export function sinceText(since: number | null, at: Reader): string {
  if (since === null) return '';
  // A restarted sandbox's clock may be behind an earlier instant.
  return `since ${awayFrom(since, at) > 0 ? instantText(since) : when(since, at)}`;
}

/** An instant of service time and its distance on the reader's clock. */
export function when(instant: number, at: Reader): string {
  const away = awayFrom(instant, at);
  return `${instantText(instant)} (${away > 0 ? `in ${span(away)}` : `${span(-away)} ago`})`;
}

function awayFrom(instant: number, { clock, now, serviceNow }: Reader): number {
  return serviceNow === undefined ? clock.atReal(instant) - now : instant - serviceNow;
}
