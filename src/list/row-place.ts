import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { RejectionReason } from '../domain/outcome.ts';
import { usTerritories } from '../domain/us-territories.ts';
import { isTimeZoneName } from '../campaign-file/zone-setting.ts';
import { loadNumberRegions, readRegion, regionsOfNumber } from '../place/number-regions.ts';
import { loadNumberZones, zonesOfNumber } from '../place/number-zones.ts';
import { quoteCell } from '../input/quote-cell.ts';
import { readZip } from '../place/zip-code.ts';
import { loadZipPlaces, placeOfZip, type ZipPlace } from '../place/zip-places.ts';

interface Place {
  /** All time zones in which the recipient may live; empty when unknown. */
  zones: string[];
  /** States or provinces that are possible; null: nothing is known. */
  regions: readonly string[] | null;
}

export type PlaceReading =
  ({ ok: true } & Place) | { ok: false; reason: RejectionReason; column: string | null; hint: string; zones: string[] };

/** Loads every table that tells places, once per process. */
export async function loadPlaces(): Promise<void> {
  await Promise.all([loadNumberZones(), loadNumberRegions(), loadZipPlaces()]);
}

/**
 * Reads where a recipient is. The zone is that of the zone cell, else of the ZIP code, else every zone of the number, else the fallback of
 * the campaign; the
 * state that of the state cell, else of the ZIP code, else those of the area code.
 *
 * A ZIP code beside a number of another country is the postal code of that country, and not looked at. One that says nothing (a military
 * one) leaves the
 * word to the number. One that is in no table says only about where it lies, so that what it and the number say both hold.
 */
export class PlaceReader {
  readonly #list: CampaignRules['list'];
  readonly #timezoneIndex: number;
  readonly #zipIndex: number;
  readonly #regionIndex: number;

  constructor(list: CampaignRules['list'], indexOf: (column: string | null) => number) {
    this.#list = list;
    this.#timezoneIndex = indexOf(list.timezoneColumn);
    this.#zipIndex = indexOf(list.zipColumn);
    this.#regionIndex = indexOf(list.regionColumn);
  }

  /** `cell` answers the trimmed cell of a column, and nothing for -1. `loadPlaces` must have finished. */
  read(cell: (index: number) => string, e164: string, country: string | null): PlaceReading {
    const named = cell(this.#timezoneIndex);
    if (named !== '' && !isTimeZoneName(named)) {
      const hint = `${quoteCell(named)} is not a time zone; write a name such as America/New_York, or leave the cell empty`;
      return { ok: false, reason: 'invalid_timezone', column: this.#list.timezoneColumn, hint, zones: [] };
    }
    const code = hasZipCodes(country) ? cell(this.#zipIndex) : '';
    const zip = code === '' ? null : readZip(code);
    if (zip?.ok === false) {
      return { ok: false, reason: 'invalid_zip', column: this.#list.zipColumn, hint: zip.hint, zones: [] };
    }
    const place = zip === null ? null : placeOfZip(zip.zip);
    const zones = named === '' ? this.#zonesOf(place, e164, country) : [named];

    const state = cell(this.#regionIndex);
    if (state === '') return { ok: true, zones, regions: regionsOf(place, e164) };
    const region = readRegion(state, country);
    if (region !== null) return { ok: true, zones, regions: [region] };
    const hint = `${quoteCell(state)} is no state of ${country ?? 'that country'}; write its two-letter code, or leave the cell empty`;
    return { ok: false, reason: 'invalid_state', column: this.#list.regionColumn, hint, zones };
  }

  #zonesOf(place: ZipPlace | null, e164: string, country: string | null): string[] {
    if (place?.listed === true) return [...place.zones];
    const zones = union(place?.zones ?? [], zonesOfNumber(e164, country));
    const { fallbackTimezone } = this.#list;
    return zones.length > 0 || fallbackTimezone === null ? zones : [fallbackTimezone];
  }
}

function regionsOf(place: ZipPlace | null, e164: string): readonly string[] | null {
  if (place?.listed === true) return place.states;
  const ofNumber = regionsOfNumber(e164);
  return place === null || ofNumber === null ? ofNumber : union(place.states, ofNumber);
}

/** Toll-free numbers of the North American plan belong to the US here. */
function hasZipCodes(country: string | null): boolean {
  return country !== null && (country === 'US' || usTerritories.has(country));
}

function union(left: readonly string[], right: readonly string[]): string[] {
  return left.length === 0 ? [...right] : [...new Set([...left, ...right])].sort();
}
