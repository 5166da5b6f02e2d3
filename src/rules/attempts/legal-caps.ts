import type { CampaignRules, LegalHours } from '../campaign-rules.ts';
import { capsAllowAt, type FrequencyCap, type PlacedCall } from '../frequency-caps.ts';
import { lawFor, type RecipientPlace } from '../hours/legal-hours.ts';

type CappingRules = Pick<CampaignRules, 'caps' | 'law'>;

const hourMs = 3_600_000;
/** Extreme UTC offsets: a date starts up to 14 h before UTC and ends up to 12 h after it. */
const firstClockMs = 14 * hourMs;
const lastClockMs = 12 * hourMs;

/** All caps that may ever apply to calls there: the campaign's and those of every applicable law. */
export function capsFor(rules: CappingRules, place: RecipientPlace): readonly FrequencyCap[] {
  return [...rules.caps, ...lawFor(rules, place).flatMap(({ caps }) => caps)];
}

/**
 * Earliest instant from `at` on at which another call keeps every cap; `calls` are to the number or the person. Ignores rules that begin
 * after `at`: check again when the call is placed.
 */
export function callsAllowedAt(
  rules: CappingRules,
  place: RecipientPlace,
  calls: Readonly<Record<FrequencyCap['by'], readonly PlacedCall[]>>,
  at: number,
): number {
  const byLaw = lawFor(rules, place).map((law) => lawAllowsAt(law, calls, at));
  return Math.max(capsAllowAt(rules.caps, calls, at), ...byLaw);
}

/** A dated rule applies while it is one of its dates in any zone, so the number's zone need not be known. */
function lawAllowsAt({ caps, from, until }: LegalHours, calls: Parameters<typeof callsAllowedAt>[2], at: number): number {
  const begins = from === null ? -Infinity : Date.parse(from) - firstClockMs;
  const ends = until === null ? Infinity : Date.parse(until) + 24 * hourMs + lastClockMs;
  return at < begins || at >= ends ? at : Math.min(capsAllowAt(caps, calls, at), ends);
}
