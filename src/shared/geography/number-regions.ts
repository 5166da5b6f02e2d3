import { usTerritories } from '../../rules/campaign-rules.ts';
import { readGeoTable } from './number-zones.ts';

/** States and provinces by area code of the North American plan. */
let table: Map<string, readonly string[]> | null = null;

/**
 * The states or provinces in which a number of the North American plan may have been given out, by its area code; null elsewhere,
 * and where the area code says nothing (toll-free, new ones). A presumption: a mobile number may have moved.
 */
export function regionsOfNumber(e164: string): readonly string[] | null {
  table ??= readRegionTable();
  return e164.startsWith('+1') ? (table.get(e164.slice(2, 5)) ?? null) : null;
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
