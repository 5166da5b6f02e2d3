import type { CampaignRules, LegalHours } from '../campaign-rules.ts';
import { capsAllowAt, type FrequencyCap, type PlacedCall } from '../frequency-caps.ts';
import { lawFor, type RecipientPlace } from '../hours/legal-hours.ts';

type CappingRules = Pick<CampaignRules, 'caps' | 'law'>;

const hourMs = 3_600_000;
/** The first clocks of the earth to reach a date, and the last to leave it, differ by this from UTC. */
const firstClockMs = 14 * hourMs;
const lastClockMs = 12 * hourMs;

/** Every cap that ever holds for calls to somebody there: those of the campaign, and of the law of each place in which they may be. */
export function capsFor(rules: CappingRules, place: RecipientPlace): readonly FrequencyCap[] {
  return [...rules.caps, ...lawFor(rules, place).flatMap(({ caps }) => caps)];
}

/**
 * The earliest instant, `at` or later, at which one more call keeps every cap of campaign and law. `calls` are those to the number or the
 * person. A rule that begins after `at` is not looked at: ask again when the call is to be made.
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

/** A dated rule holds as long as it is one of its dates anywhere, so that the zone of the number need not be known. */
function lawAllowsAt({ caps, from, until }: LegalHours, calls: Parameters<typeof callsAllowedAt>[2], at: number): number {
  const begins = from === null ? -Infinity : Date.parse(from) - firstClockMs;
  const ends = until === null ? Infinity : Date.parse(until) + 24 * hourMs + lastClockMs;
  return at < begins || at >= ends ? at : Math.min(capsAllowAt(caps, calls, at), ends);
}
