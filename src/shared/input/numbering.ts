import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Numbering } from '../../rules/row-terms.ts';
import { packageFolder } from './package-folder.ts';

const range = z.strictObject({
  prefix: z.string().regex(/^\+\d{2,9}$/),
  country: z.string().regex(/^[A-Z]{2}$/),
  zones: z.array(z.string()).min(1),
  since: z.iso.date(),
  source: z.string().min(1),
});
const schema = z.strictObject({ as_of: z.iso.date(), library: z.string(), data_of: z.iso.date(), ranges: z.array(range) });

let table: z.output<typeof schema> | null = null;

/** `rules/numbering.yaml`: what is in service besides the library's data, and of when these are. */
export function readNumberingTable(): z.output<typeof schema> {
  table ??= schema.parse(parse(readFileSync(join(packageFolder('rules'), 'numbering.yaml'), 'utf8')));
  return table;
}

/** The ranges in service at an instant, as a campaign keeps them. `call`: whether numbers of ranges that no data has are called, too. */
export function numberingAt(atMs: number, call: boolean): Numbering {
  const day = atMs === Infinity ? '9999-12-31' : new Date(atMs).toISOString().slice(0, 10);
  const inService = readNumberingTable().ranges.filter(({ since }) => since <= day);
  return { call, ranges: inService.map(({ prefix, country, zones }) => ({ prefix, country, zones })) };
}

/** Every number that any campaign may call: for the do-not-call list, which is to hold them all. */
export function everyNumbering(): Numbering {
  return numberingAt(Infinity, true);
}

/** The form of a geographic number of North America: area code and exchange, neither of them a service code (211 to 911). */
const northAmerican = /^\+1([2-9][0-8]\d)([2-9]\d\d)\d{4}$/;
/** Area codes that are kept for expansion, for services whoever calls pays for, or for easily recognised ones such as 322. */
const keptArea = /^(?:37|96|82|88)|(\d)\1$/;
/** Exchanges of services, tests and premium calls, and directory assistance. */
const keptExchange = /^.{5}(?:\d11|950|958|959|976)|5551212$/;

/** Whether a number of North America has the form of one that a person may have. */
export function hasPersonalForm(e164: string): boolean {
  const area = northAmerican.exec(e164)?.[1];
  return area !== undefined && !area.endsWith('11') && !keptArea.test(area) && !keptExchange.test(e164);
}

/** Whether the library has no number at all with the area code of this number of North America. */
export function isUnknownArea(e164: string): boolean {
  return !['2345678', '5550123', '9876543'].some((local) => parsePhoneNumberFromString(e164.slice(0, 5) + local)?.isValid() === true);
}
