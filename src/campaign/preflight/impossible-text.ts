import { weekdays, type CampaignRules, type LegalHours, type Weekday } from '../../rules/campaign-rules.ts';
import type { CampaignFile } from '../file/file.ts';
import { CampaignFileError, type CampaignProblem } from '../../shared/input/errors.ts';
import { problemAt } from '../../shared/input/problems.ts';
import type { ImpossiblePlace, ImpossibleWindows } from './impossible-windows.ts';
import { windowText } from '../file/weekly-hours.ts';

const mostZonesNamed = 4;

/** What is impossible, one sentence per place with the number of its rows; for a warning when other rows can be called. */
export function describeImpossible({ places }: ImpossibleWindows): string[] {
  return places.map((place) => {
    const rows = place.rows === 1 ? '1 row' : `${String(place.rows)} rows`;
    const which = `${rows} of ${placeName(place)} (the first is row ${String(place.firstRow)}) can never be called`;
    return `${which}: ${causeOf(place)}; ${place.rows === 1 ? 'it ends' : 'they end'} as undialable`;
  });
}

/** What is impossible as plain data: of a rule its id and source. */
export function impossibleAsJson({ places, rows, all }: ImpossibleWindows): object {
  const named = places.map(({ country, regions, zones, rows: count, firstRow, law }) => {
    const rules = law?.map(({ id, source }) => ({ id, source })) ?? null;
    return { country, regions, zones, rows: count, firstRow, law: rules };
  });
  return { all, rows, places: named };
}

/**
 * Refuses a campaign none of whose recipients can ever be called, whatever the week.
 * @throws CampaignFileError with each window that the law rules out, the rule and its source; or with the zones that are never open
 * together.
 */
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
    return [problem(['hours', day], `${written} leaves no time to call anybody in the list: ${allowed}; ${fix}`)];
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
