import type { DatedCalendar } from './calling-window.ts';
import type { OwnTerms } from '../row-terms.ts';
import { ownCalendar } from './own-hours.ts';
import { unruledCountries, type CampaignRules, type LegalHours } from '../campaign-rules.ts';
import { usTerritories } from '../caller-choice.ts';
import type { Basis } from '../consent.ts';

/** Possible places of a recipient, for the law. */
export interface RecipientPlace {
  /** ISO 3166 code; null: the number belongs to no country. */
  country: string | null;
  /** Codes of the possible states or provinces; null: not narrowed down. */
  regions: readonly string[] | null;
}

/** Results per place and source object: a plan asks for many recipients in few places. */
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
 * Every calendar that must be open: the campaign's, the account's, the law of the country and of each possible part of it (the strictest
 * wins), and the row's own. A US territory is a part of the US.
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

/** Law of a recipient's place; a country without hours in any rule gets the `*` rules. */
export function lawFor({ law }: Pick<CampaignRules, 'law'>, place: RecipientPlace): readonly LegalHours[] {
  return findOnce(laws, law, place, () => findLaw(law, place));
}

/** The same, not cached, for rules that still grow. */
export function findLaw(law: readonly LegalHours[], place: RecipientPlace): readonly LegalHours[] {
  const known = law.filter((rule) => holdsAt(rule, place));
  return known.some(rulesCountry) ? known : [...known, ...law.filter(({ country }) => country === unruledCountries)];
}

/** Whether a rule is for countries without hours of their own: for all, or for one with its holidays. */
export function isForUnruled({ country, holidays }: Pick<LegalHours, 'country' | 'holidays'>): boolean {
  return country === unruledCountries || holidays === 'made';
}

/** Law of a list's rows that an operator should know, besides hours and caps. */
export interface LawSummary {
  basis: Basis | null;
  /** Rules that require the recipients' consent while the campaign may call; those with most rows first. */
  consent: { country: string; kind: NonNullable<LegalHours['consent']>; rows: number; source: string }[];
  /** Rules not confirmed at their source: what, and for how many rows; those with most rows first. */
  unconfirmed: { id: string; what: string; rows: number; source: string }[];
}

/** `from` and `to`: when the campaign may call, in epoch ms; `to` may be unknown. */
export function lawSummaryOf(
  { law, basis }: Pick<CampaignRules, 'law' | 'basis'>,
  places: Iterable<RecipientPlace & { rows: number }>,
  { from, to }: { from: number; to: number | null },
): LawSummary {
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

/** Consent rules that prohibit a start because the campaign file states no basis. */
export function lacksBasis({ basis, consent }: LawSummary): LawSummary['consent'] {
  return basis === null ? consent.filter(({ kind }) => kind === 'required') : [];
}

/** A state's hours do not cover the other states, and a cap does not cover hours. */
function rulesCountry({ region, hours }: LegalHours): boolean {
  return region === null && hours !== null;
}

function holdsAt(law: LegalHours, { country, regions }: RecipientPlace): boolean {
  const holdsIn = (place: string | null, parts: readonly string[] | null): boolean =>
    law.country === place && (law.region === null || parts === null || parts.includes(law.region));
  if (holdsIn(country, regions)) return true;
  return country !== null && usTerritories.has(country) && holdsIn('US', regions ?? [country]);
}
