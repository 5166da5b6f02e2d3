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

/** `rules/numbering.yaml`: number ranges in service beyond the library's data, and their date. */
export function readNumberingTable(): z.output<typeof schema> {
  table ??= schema.parse(parse(readFileSync(join(packageFolder('rules'), 'numbering.yaml'), 'utf8')));
  return table;
}

/** Ranges in service at an instant, frozen with the campaign. `call`: also call numbers in unknown ranges. */
export function numberingAt(atMs: number, call: boolean): Numbering {
  const day = atMs === Infinity ? '9999-12-31' : new Date(atMs).toISOString().slice(0, 10);
  const inService = readNumberingTable().ranges.filter(({ since }) => since <= day);
  return { call, ranges: inService.map(({ prefix, country, zones }) => ({ prefix, country, zones })) };
}

/** Accepts every number that any campaign may call, for the do-not-call list. */
export function everyNumbering(): Numbering {
  return numberingAt(Infinity, true);
}

/** North American geographic form: area code and exchange, neither a service code (211 to 911). */
const northAmerican = /^\+1([2-9][0-8]\d)([2-9]\d\d)\d{4}$/;
/** Area codes reserved for expansion, caller-paid services, or easily recognisable codes such as 322. */
const keptArea = /^(?:37|96|82|88)|(\d)\1$/;
/** Exchanges for services, tests, premium calls and directory assistance. */
const keptExchange = /^.{5}(?:\d11|950|958|959|976)|5551212$/;

/** True when a North American number has the form of a subscriber's. */
export function hasPersonalForm(e164: string): boolean {
  const area = northAmerican.exec(e164)?.[1];
  return area !== undefined && !area.endsWith('11') && !keptArea.test(area) && !keptExchange.test(e164);
}

/** True when the library has no number in this North American area code. */
export function isUnknownArea(e164: string): boolean {
  return !['2345678', '5550123', '9876543'].some((local) => parsePhoneNumberFromString(e164.slice(0, 5) + local)?.isValid() === true);
}
