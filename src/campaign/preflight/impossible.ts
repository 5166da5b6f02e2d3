import { opensInYear, windowAt, windowHorizonMs, type DatedCalendar } from '../../rules/hours/calling-window.ts';
import { type CampaignRules, type LegalHours, weekdays, type Weekday } from '../../rules/campaign-rules.ts';
import { dialsFrom } from '../../rules/lifecycle.ts';
import { closeHolidaysOf } from '../file/legal-rules.ts';
import { calendarsFor, isForUnruled, lawFor, lawSummaryOf, type LawSummary, type RecipientPlace } from '../../rules/hours/legal-hours.ts';
import type { ListRow } from '../../list/recipients.ts';
import type { UnruledCountry } from './warnings.ts';
import { CampaignFileError, type CampaignProblem } from '../../shared/input/errors.ts';
import { problemAt } from '../../shared/input/problems.ts';
import { windowText } from '../../rules/hours/weekly-hours.ts';
import type { CampaignFile } from '../file/campaign-file.ts';

interface CountedPlace extends RecipientPlace {
  zones: readonly string[];
  rows: number;
  firstRow: number;
}

/** Recipients who can never be called: hours and law leave no common time longer than the margin. */
export interface ImpossiblePlace extends CountedPlace {
  /** The laws that rule calls out; empty: the campaign's own hours never open in all zones at once; null: not computed. */
  law: readonly LegalHours[] | null;
  /** True when each zone alone has open hours and only their combination has none; null like `law`. */
  onlyTogether: boolean | null;
}

export interface ImpossibleWindows {
  places: readonly ImpossiblePlace[];
  rows: number;
  /** True when every known place is impossible; rows without a known zone belong to no place. */
  all: boolean;
}

const dayMs = 86_400_000;
/** Covers every week of a year, with holidays and clock changes. */
const yearMs = 400 * dayMs;
/** Finding the rules at fault is expensive, and a reader needs only a few. */
const explainedPlaces = 5;

/**
 * Counts accepted rows by place and finds places that never open. Feed it first: it adds holidays of countries without law to the rules.
 */
export class WindowStats {
  readonly #rules: CampaignRules;
  readonly #now: number;
  readonly #places = new Map<string, CountedPlace>();

  constructor(rules: CampaignRules, now: number) {
    this.#rules = rules;
    this.#now = now;
  }

  async *count(chunks: AsyncIterable<ListRow[]>): AsyncGenerator<ListRow[]> {
    for await (const rows of chunks) {
      for (const row of rows) if (row.verdict === 'accepted') this.#add(row);
      yield rows;
    }
  }

  #add({ row, zones, country, regions }: Extract<ListRow, { verdict: 'accepted' }>): void {
    const key = `${zones.join()} ${country ?? ''} ${regions?.join() ?? '*'}`;
    const place = this.#places.get(key);
    if (place !== undefined) {
      place.rows += 1;
      return;
    }
    if (country !== null) closeHolidaysOf(country, this.#rules.law as LegalHours[], this.#now);
    this.#places.set(key, { zones, country, regions, rows: 1, firstRow: row });
  }

  law(): LawSummary {
    const { startsAt, endsAt } = this.#rules;
    const between = { from: dialsFrom({ startsAt }, this.#now), to: endsAt };
    return lawSummaryOf(this.#rules, this.#places.values(), between);
  }

  unruled(): UnruledCountry[] {
    const rows = new Map<string | null, number>();
    for (const place of this.#places.values()) {
      if (!lawFor(this.#rules, place).some(isForUnruled)) continue;
      rows.set(place.country, (rows.get(place.country) ?? 0) + place.rows);
    }
    return [...rows].map(([country, count]) => ({ country, rows: count })).sort((a, b) => b.rows - a.rows);
  }

  /** From `at` or the later campaign start. Ignores the campaign's end, a matter of time and not of rules. */
  find(at: number): ImpossibleWindows {
    const begins = dialsFrom(this.#rules, at);
    const known = [...this.#places.values()].filter(({ zones }) => zones.length > 0);
    const closed = neverOpen(this.#rules, known, begins).sort((a, b) => b.rows - a.rows || a.firstRow - b.firstRow);
    const places = closed.map((place, index) => ({
      ...place,
      ...(index < explainedPlaces ? explain(this.#rules, place, begins) : { law: null, onlyTogether: null }),
    }));
    const rows = closed.reduce((sum, place) => sum + place.rows, 0);
    return { places, rows, all: known.length > 0 && closed.length === known.length };
  }
}

/** Loops over instants, then places, since windows are computed one day at a time. */
function neverOpen(rules: CampaignRules, places: readonly CountedPlace[], at: number): CountedPlace[] {
  let closed = [...places];
  for (let from = at; from < at + yearMs && closed.length > 0; from += windowHorizonMs)
    closed = closed.filter((place) => !opensFrom(rules, calendarsFor(rules, place), place.zones, from));
  return closed;
}

function explain(rules: CampaignRules, place: CountedPlace, at: number): Pick<ImpossiblePlace, 'law' | 'onlyTogether'> {
  const marginMs = rules.timing.dispatchMarginMs;
  const opensUnder = (law: readonly LegalHours[], zones = place.zones): boolean =>
    opensInYear({ calendars: [rules.calendar, ...law], zones, at, marginMs });
  const law = opensUnder([]) ? leastLaw(lawFor(rules, place), (rest) => !opensUnder(rest)) : [];
  return { law, onlyTogether: place.zones.every((zone) => opensUnder(law, [zone])) };
}

/** A single rule that closes by itself, else a minimal set of rules that do so together. */
function leastLaw(all: readonly LegalHours[], closes: (law: readonly LegalHours[]) => boolean): readonly LegalHours[] {
  const alone = all.find((rule) => closes([rule]));
  if (alone !== undefined) return [alone];
  let law = all;
  for (const candidate of all) {
    const rest = law.filter((rule) => rule !== candidate);
    if (closes(rest)) law = rest;
  }
  return law;
}

function opensFrom(rules: CampaignRules, calendars: readonly DatedCalendar[], zones: readonly string[], at: number): boolean {
  const window = windowAt({ calendars, zones, at, marginMs: rules.timing.dispatchMarginMs, endsAt: null });
  return window.open || window.opensAt !== null;
}

const mostZonesNamed = 4;

export function describeImpossible({ places }: ImpossibleWindows): string[] {
  return places.map((place) => {
    const rows = place.rows === 1 ? '1 row' : `${String(place.rows)} rows`;
    const which = `${rows} of ${placeName(place)} (the first is row ${String(place.firstRow)}) can never be called`;
    return `${which}: ${causeOf(place)}; ${place.rows === 1 ? 'it ends' : 'they end'} as undialable`;
  });
}

export function impossibleAsJson({ places, rows, all }: ImpossibleWindows): object {
  const named = places.map(({ country, regions, zones, rows: count, firstRow, law }) => {
    const rules = law?.map(({ id, source }) => ({ id, source })) ?? null;
    return { country, regions, zones, rows: count, firstRow, law: rules };
  });
  return { all, rows, places: named };
}

/** Throws CampaignFileError when no recipient can ever be called, naming windows, rules and sources, or zones never open together. */
export function refuseImpossible(file: CampaignFile, rules: CampaignRules, found: ImpossibleWindows): void {
  const [place] = found.places;
  if (!found.all || place === undefined) return;
  throw new CampaignFileError(file.path, problemsOf(file, rules, place));
}

function problemsOf(file: CampaignFile, rules: CampaignRules, place: ImpossiblePlace): CampaignProblem[] {
  const { hours } = file.settings;
  const { law } = place;
  const problem = (path: string[], message: string) => problemAt(file.lineOf, path, message);
  if (law !== null && law.length > 0 && hours === null) {
    const fix = 'correct the rule in a file of your own and name that as law';
    return [problem(['law'], `no recipient in the list can ever be called: ${causeOf(place)}; ${fix}`)];
  }
  if (law === null || law.length === 0 || hours === null || place.onlyTogether === true) {
    const fix = place.zones.length > 1 ? 'name the zone of each row with list.timezone or list.zip, or write' : 'write';
    return [problem(['hours'], `no recipient in the list can ever be called: ${causeOf(place)}; ${fix} longer hours`)];
  }
  return weekdays.flatMap((day) => {
    const windows = hours[day];
    if (windows === undefined) return [];
    const written = JSON.stringify(windows.map(windowText).join(', '));
    const allowed = law.map((rule) => `${nameRule(rule)} ${allowedOn(rule, day)}`).join(', and ');
    const margin = `${String(rules.timing.dispatchMarginMs / 60_000)}m`;
    const fix = `write hours that it allows for longer than advanced.dispatch_margin (${margin})`;
    return [problem(['hours', day], `${written} leaves no time to call anyone in the list: ${allowed}; ${fix}`)];
  });
}

function causeOf({ law, zones }: ImpossiblePlace): string {
  if (law === null) return 'hours and law are never open at the same time there';
  const together = zones.length > 1 ? ` in all ${String(zones.length)} time zones at once` : '';
  if (law.length === 0) return `the hours of the campaign are never open${together}`;
  return `the hours of the campaign and ${law.map(nameRule).join(' and ')} are never open${together || ' at the same time'}`;
}

function nameRule({ id, source, from, until }: LegalHours): string {
  const since = from === null ? '' : `, from ${from}`;
  const to = until === null ? '' : `, until ${until}`;
  return `rule ${id} (${source}${since}${to})`;
}

function allowedOn({ hours }: LegalHours, day: Weekday): string {
  if (hours === null) return 'allows any hour';
  const windows = hours[day] ?? [];
  return windows.length === 0 ? `allows no calls on ${day}` : `allows ${windows.map(windowText).join(', ')} on ${day}`;
}

function placeName({ country, regions, zones }: ImpossiblePlace): string {
  const named = zones.slice(0, mostZonesNamed).join(', ');
  const more = zones.length > mostZonesNamed ? ` and ${String(zones.length - mostZonesNamed)} more zones` : '';
  const state = regions === null ? '' : ` ${regions.join('/')}`;
  return `${country ?? 'no country'}${state} in ${named}${more}`;
}
