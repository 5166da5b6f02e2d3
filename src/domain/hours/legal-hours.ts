import type { DatedCalendar } from './calling-window.ts';
import { unruledCountries, type CampaignRules, type LegalHours } from '../campaign-rules.ts';
import { usTerritories } from '../us-territories.ts';

/** Where a recipient may be, as far as law is concerned. */
export interface RecipientPlace {
  /** ISO 3166 code; null when the number belongs to no country. */
  country: string | null;
  /** Codes of the states or provinces that are possible; null when nothing narrows them down. */
  regions: readonly string[] | null;
}

/** What was found for each place, per object that it was found in: a plan asks for many recipients of few places. */
type FoundByPlace<Found> = WeakMap<object, Map<string, Found>>;

function findOnce<Found>(known: FoundByPlace<Found>, owner: object, place: RecipientPlace, find: () => Found): Found {
  let byPlace = known.get(owner);
  if (byPlace === undefined) known.set(owner, (byPlace = new Map()));
  const key = `${place.country ?? ''}:${place.regions?.join() ?? '*'}`;
  let found = byPlace.get(key);
  if (found === undefined) byPlace.set(key, (found = find()));
  return found;
}

const calendars: FoundByPlace<readonly DatedCalendar[]> = new WeakMap();
const laws: FoundByPlace<readonly LegalHours[]> = new WeakMap();

/**
 * Every calendar that must be open for a recipient: the campaign's, the law of the country, and the law of each part of it in
 * which they may be. Where the part is not known, every part's law holds: the strictest wins. A territory of the US is a part of it.
 */
export function calendarsFor(
  rules: Pick<CampaignRules, 'calendar' | 'law'>,
  place: RecipientPlace,
): readonly DatedCalendar[] {
  return findOnce(calendars, rules, place, () => [rules.calendar, ...lawFor(rules, place)]);
}

/** The law that holds where a recipient may be: of a country whose hours no rule knows, that of any such country. */
export function lawFor({ law }: Pick<CampaignRules, 'law'>, place: RecipientPlace): readonly LegalHours[] {
  return findOnce(laws, law, place, () => {
    const known = law.filter((rule) => holdsAt(rule, place));
    return known.some(rulesCountry) ? known : [...known, ...law.filter(isForUnruled)];
  });
}

/** Whether a rule is for every country whose hours no other rule knows. */
export function isForUnruled({ country }: Pick<LegalHours, 'country'>): boolean {
  return country === unruledCountries;
}

/** Hours of a state alone say nothing about the others, and a cap nothing about hours. */
function rulesCountry({ region, hours }: LegalHours): boolean {
  return region === null && hours !== null;
}

function holdsAt(law: LegalHours, { country, regions }: RecipientPlace): boolean {
  const holdsIn = (place: string | null, parts: readonly string[] | null): boolean =>
    law.country === place && (law.region === null || parts === null || parts.includes(law.region));
  if (holdsIn(country, regions)) return true;
  return country !== null && usTerritories.has(country) && holdsIn('US', regions ?? [country]);
}
