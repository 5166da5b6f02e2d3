import type { LoggedEvent } from '../book.ts';
import type { Cap, JudgedHouse, JudgedRules } from '../judged-rules.ts';
import { hourMs } from '../local-time.ts';
import type { PlacedCall } from '../number-book.ts';
import { lawAt, placeOf } from './hours.ts';

/** The first clock of the earth to show a date is 14 hours ahead, the last one 12 behind. */
const aheadMs = 14 * hourMs;
const behindMs = 12 * hourMs;

/** The first cap of campaign, law and house that does not allow the call after these; null: all do. */
export function brokenCap(
  rules: JudgedRules,
  house: JudgedHouse | null,
  event: LoggedEvent,
  callsTo: Readonly<Record<Cap['by'], readonly PlacedCall[]>>,
): string | null {
  const { at } = event;
  const inForce = lawAt(rules, placeOf(event)).filter(
    ({ from, until }) =>
      (from === null || at >= Date.parse(from) - aheadMs) && (until === null || at < Date.parse(until) + 24 * hourMs + behindMs),
  );
  const caps = [...rules.caps, ...inForce.flatMap((law) => law.caps), ...(house?.caps ?? [])];
  const broken = caps.find((cap) => isBroken(cap, callsTo[cap.by], at));
  if (broken === undefined) return null;
  if ('afterTalkMs' in broken) return `${broken.afterTalkMs} ms after a talk with the ${broken.by}`;
  return `${broken.calls} calls per ${broken.withinMs} ms to the ${broken.by}`;
}

/**
 * A cap counts rings: an earlier call has its place in it from its request until its phone has rung for the last time that is possible,
 * and the new one rings no sooner than its request.
 */
function isBroken(cap: Cap, calls: readonly PlacedCall[], at: number): boolean {
  if ('afterTalkMs' in cap) return calls.some((call) => call.talked && call.at > at - cap.afterTalkMs);
  return calls.filter((call) => call.rangBy > at - cap.withinMs).length >= cap.calls;
}
