import type { DatedCalendar } from './calling-window.ts';
import type { CampaignRules, LegalHours } from './campaign-rules.ts';
import { usTerritories } from './us-territories.ts';

/** Where a recipient may be, as far as law is concerned. */
export interface RecipientPlace {
  /** ISO 3166 code; null when the number belongs to no country. */
  country: string | null;
  /** Codes of the states or provinces that are possible; null when nothing narrows them down. */
  regions: readonly string[] | null;
}

/** Calendars by place, per rules object: a plan asks for many recipients of few places. */
const cache = new WeakMap<object, Map<string, readonly DatedCalendar[]>>();

/**
 * Every calendar that must be open for a recipient: the campaign's, the law of the country, and the law of each part of it in
 * which they may be. Where the part is not known, every part's law holds: the strictest wins. A territory of the US is a part of it.
 */
export function calendarsFor(
  rules: Pick<CampaignRules, 'calendar' | 'law'>,
  place: RecipientPlace,
): readonly DatedCalendar[] {
  let byPlace = cache.get(rules);
  if (byPlace === undefined) cache.set(rules, (byPlace = new Map()));
  const key = placeKey(place);
  let calendars = byPlace.get(key);
  if (calendars === undefined) {
    calendars = [rules.calendar, ...lawFor(rules, place)];
    byPlace.set(key, calendars);
  }
  return calendars;
}

/** Law by place, as above: caps ask for it as well. */
const lawCache = new WeakMap<object, Map<string, readonly LegalHours[]>>();

/** The law that holds where a recipient may be. */
export function lawFor({ law }: Pick<CampaignRules, 'law'>, place: RecipientPlace): readonly LegalHours[] {
  let byPlace = lawCache.get(law);
  if (byPlace === undefined) lawCache.set(law, (byPlace = new Map()));
  const key = placeKey(place);
  let found = byPlace.get(key);
  if (found === undefined) {
    found = law.filter((rule) => holdsAt(rule, place));
    byPlace.set(key, found);
  }
  return found;
}

function placeKey({ country, regions }: RecipientPlace): string {
  return `${country ?? ''}:${regions?.join() ?? '*'}`;
}

function holdsAt(law: LegalHours, { country, regions }: RecipientPlace): boolean {
  const holdsIn = (place: string | null, parts: readonly string[] | null): boolean =>
    law.country === place && (law.region === null || parts === null || parts.includes(law.region));
  if (holdsIn(country, regions)) return true;
  return country !== null && usTerritories.has(country) && holdsIn('US', regions ?? [country]);
}
