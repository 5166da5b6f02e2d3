import type { DatedCalendar } from './calling-window.ts';
import type { OwnTerms } from '../row-terms.ts';
import { ownCalendar } from './own-hours.ts';
import { unruledCountries, type CampaignRules, type LegalHours } from '../campaign-rules.ts';
import { usTerritories } from '../caller-choice.ts';
import type { Basis } from '../consent.ts';

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
 * Every calendar that must be open for a recipient: the campaign's, that of the house, the law of the country, the law of each part of it
 * in which they may be, and the row's own. Where the part is not known, every part's law holds: the strictest wins. A territory of the US
 * is a part of it.
 */
export function calendarsFor(
  rules: Pick<CampaignRules, 'calendar' | 'house' | 'law'>,
  { hours, ...place }: RecipientPlace & { hours?: OwnTerms['hours'] | undefined },
): readonly DatedCalendar[] {
  const shared = findOnce(calendars, rules, place, () => [
    rules.calendar,
    ...(rules.house === undefined ? [] : [rules.house.calendar]),
    ...lawFor(rules, place),
  ]);
  return hours == null ? shared : [...shared, ownCalendar(hours)];
}

/** The law that holds where a recipient may be: of a country whose hours no rule knows, that of any such country. */
export function lawFor({ law }: Pick<CampaignRules, 'law'>, place: RecipientPlace): readonly LegalHours[] {
  return findOnce(laws, law, place, () => findLaw(law, place));
}

/** The same of rules that are still growing. */
export function findLaw(law: readonly LegalHours[], place: RecipientPlace): readonly LegalHours[] {
  const known = law.filter((rule) => holdsAt(rule, place));
  return known.some(rulesCountry) ? known : [...known, ...law.filter(({ country }) => country === unruledCountries)];
}

/** Whether a rule is for countries whose hours no other rule knows: for all of them, or for one with its holidays. */
export function isForUnruled({ country, holidays }: Pick<LegalHours, 'country' | 'holidays'>): boolean {
  return country === unruledCountries || holidays === 'made';
}

/** What a person should know of the law that holds for the rows of a list, besides hours and caps. */
export interface LawOutlook {
  basis: Basis | null;
  /** Rules that ask for the consent of those who are called, while the campaign may call; those with most rows first. */
  consent: { country: string; kind: NonNullable<LegalHours['consent']>; rows: number; source: string }[];
  /** Rules that could not be confirmed at their source: what of them, and for how many rows they hold; those with most rows first. */
  unconfirmed: { id: string; what: string; rows: number; source: string }[];
}

/** `between`: from when to when the campaign may call, in epoch milliseconds; the end may be unknown. */
export function lawOutlook(
  { law, basis }: Pick<CampaignRules, 'law' | 'basis'>,
  places: Iterable<RecipientPlace & { rows: number }>,
  { from, to }: { from: number; to: number | null },
): LawOutlook {
  const rows = new Map<LegalHours, number>();
  for (const place of places) for (const rule of lawFor({ law }, place)) rows.set(rule, (rows.get(rule) ?? 0) + place.rows);
  const held = [...rows].map(([rule, count]) => ({ ...rule, rows: count })).sort((a, b) => b.rows - a.rows);
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const holds = (rule: LegalHours): boolean =>
    (rule.from === null || to === null || rule.from <= dayOf(to)) && (rule.until === null || rule.until >= dayOf(from));
  return {
    basis: basis ?? null,
    consent: held
      .filter(holds)
      .flatMap(({ country, consent, rows: count, source }) =>
        consent === undefined ? [] : [{ country, kind: consent, rows: count, source }],
      ),
    unconfirmed: held.flatMap(({ id, unconfirmed, rows: count, source }) =>
      unconfirmed === undefined ? [] : [{ id, what: unconfirmed, rows: count, source }],
    ),
  };
}

/** What the law of these countries forbids without a basis that the campaign file states, so that it must not begin. */
export function lacksBasis({ basis, consent }: LawOutlook): LawOutlook['consent'] {
  return basis === null ? consent.filter(({ kind }) => kind === 'required') : [];
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
