import type { CampaignRules } from '../rules/campaign-rules.ts';
import type { RejectionReason } from '../rules/outcome.ts';
import { isTimeZoneName } from '../rules/hours/time-zone.ts';
import { readRegion, regionsOfNumber, zonesOfNumber } from '../shared/geography/number-places.ts';
import { quoteCell } from '../shared/input/printable.ts';
import { readZip, placeOfZip, type ZipPlace } from '../shared/geography/zip-places.ts';
import { usTerritories } from '../rules/caller-choice.ts';

interface Place {
  zones: string[];
  /** Possible states or provinces; null: unknown. */
  regions: readonly string[] | null;
}

export type PlaceReading =
  ({ ok: true } & Place) | { ok: false; reason: RejectionReason; column: string | null; hint: string; zones: string[] };

/** The trimmed cell of a column; empty if the campaign names none. */
export type CellOf = (column: string | null) => string;

/**
 * Reads where a recipient is. Zone: from the zone cell, else the ZIP code, else every zone of the number, else the campaign's fallback.
 * State: from the state cell, else the ZIP code, else the area code.
 *
 * Ignores a ZIP code beside a number of another country (that country's postal code) and a military one (no place). An unlisted ZIP code
 * gives only a rough area, so its zones and states are added to the number's.
 */
export function readPlace(
  list: CampaignRules['list'],
  cell: CellOf,
  { e164, country, range }: { e164: string; country: string | null; range?: { zones: readonly string[] | null } },
): PlaceReading {
  const named = cell(list.timezoneColumn);
  if (named !== '' && !isTimeZoneName(named)) {
    const hint = `${quoteCell(named)} is not a time zone; write a name such as America/New_York, or leave the cell empty`;
    return { ok: false, reason: 'invalid_timezone', column: list.timezoneColumn, hint, zones: [] };
  }
  const code = hasZipCodes(country) ? cell(list.zipColumn) : '';
  const zip = code === '' ? null : readZip(code);
  if (zip?.ok === false) return { ok: false, reason: 'invalid_zip', column: list.zipColumn, hint: zip.hint, zones: [] };
  const place = zip === null ? null : placeOfZip(zip.zip);
  // An unknown range may be anywhere in its numbering plan, so ZIP code and state narrow neither zones nor law.
  const isUnknown = range?.zones === null;
  const ofNumber = range?.zones ?? zonesOfNumber(e164, isUnknown ? null : country);
  const possible = place?.listed === true && !isUnknown ? place.zones : union(place?.zones ?? [], ofNumber);
  const fallback = list.fallbackTimezone === null ? [] : [list.fallbackTimezone];
  const zones = named !== '' ? [named] : possible.length > 0 ? [...possible] : fallback;

  const state = cell(list.regionColumn);
  if (state === '') return { ok: true, zones, regions: isUnknown ? null : regionsOf(place, e164) };
  const region = readRegion(state, country);
  if (region !== null) return { ok: true, zones, regions: isUnknown ? null : [region] };
  const hint = `${quoteCell(state)} is no state of ${country ?? 'that country'}; write its two-letter code, or leave the cell empty`;
  return { ok: false, reason: 'invalid_state', column: list.regionColumn, hint, zones };
}

function regionsOf(place: ZipPlace | null, e164: string): readonly string[] | null {
  if (place?.listed === true) return place.states;
  const ofNumber = regionsOfNumber(e164);
  return place === null || ofNumber === null ? ofNumber : union(place.states, ofNumber);
}

/** North American toll-free numbers count as US. */
function hasZipCodes(country: string | null): boolean {
  return country !== null && (country === 'US' || usTerritories.has(country));
}

function union(left: readonly string[], right: readonly string[]): string[] {
  return left.length === 0 ? [...right] : [...new Set([...left, ...right])].sort();
}
