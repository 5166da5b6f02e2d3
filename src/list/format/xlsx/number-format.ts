import { formatValue } from 'hucre';
import type { WorkbookArchive } from './archive.ts';
import { readAllXml } from './xml.ts';

export type CellFormat =
  | { kind: 'general' }
  /** Shown as ISO text regardless of the format's day and month order. */
  | { kind: 'date'; hasDate: boolean; hasTime: boolean }
  /** `signed`: no section for negative numbers, so they show a minus. */
  | { kind: 'number'; code: string; signed: boolean };

/** Parses a format code. Unsupported ones (fractions, exponents, conditional text) show the number as it is. */
export function readFormat(code: string): CellFormat {
  const bare = code.replace(/"[^"]*"|\\.|_.|\*./g, '').replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '');
  if (/^general$|^@?$/i.test(bare.trim())) return { kind: 'general' };
  if (/[ydhs]|m/i.test(bare) && !/general/i.test(bare)) {
    const withoutHalf = bare.replace(/am\/pm|a\/p/gi, 'h');
    const hasTime = /[hs]/i.test(withoutHalf);
    return { kind: 'date', hasDate: /[yd]/i.test(withoutHalf) || !hasTime, hasTime };
  }
  const sections = bare.split(';').slice(0, 3);
  if (!sections.every(isPlainSection)) return { kind: 'general' };
  const withCurrency = code.replace(/\[\$([^\]-]*)[^\]]*\]/g, '"$1"').replace(/_./g, ' ');
  return { kind: 'number', code: withCurrency, signed: sections.length === 1 || /\[[<>=]/.test(code) };
}

/** Digits without exponent, fraction or second point; a comma after the last digit would divide by a thousand. */
function isPlainSection(bare: string): boolean {
  const [whole = '', ...decimals] = bare.split('.');
  return /[0#?]/.test(bare) && !/[eE/@]/.test(bare) && decimals.length < 2 && !/,[^0#?]*$/.test(whole);
}

/** Text of a number cell; `raw` is the number as the file writes it. */
export function showNumber(raw: string, format: CellFormat, from1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) return raw;
  if (format.kind === 'date') return showDate(value, format, from1904) ?? showPlain(value);
  if (format.kind === 'general' || Math.abs(value) >= 1e15) return showPlain(value);
  // Rounds half away from zero on the visible number: 1.005 is slightly less in binary.
  const seen = Number.isInteger(value) ? value : value * (1 + 4 * Number.EPSILON);
  const shown = formatValue(format.signed ? Math.abs(seen) : seen, format.code);
  return value < 0 && format.signed && /[1-9]/.test(shown) ? `-${shown}` : shown;
}

/** All digits without exponent while they are certain: a spreadsheet keeps fifteen. */
function showPlain(value: number): string {
  if (Math.abs(value) >= 1e15)
    return value
      .toPrecision(6)
      .replace(/\.?0+e/, 'e')
      .toUpperCase();
  const rounded = Number(value.toPrecision(15));
  const text = String(rounded);
  return text.includes('e') ? rounded.toFixed(20).replace(/0+$/, '') : text;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Day 0 of each date system. The 1900 system wrongly has a 29 February 1900. */
const dayZero1900 = Date.UTC(1899, 11, 30);
const dayZero1904 = Date.UTC(1904, 0, 1);
const lastDay = 2_958_465;

/** A spreadsheet date as ISO text without zone: `2026-11-30`, `2026-11-30T09:30` or `09:30`. Null: not a valid date. */
function showDate(serial: number, { hasDate, hasTime }: { hasDate: boolean; hasTime: boolean }, from1904: boolean): string | null {
  if (serial < 0 || serial > lastDay + 1) return null;
  // Rounded to seconds, since a time is an inexact fraction.
  const ms = Math.round(serial * 86_400) * 1000;
  if (!hasDate) return showTime(ms);
  const beforeLeap = !from1904 && serial < 60;
  const date = new Date((from1904 ? dayZero1904 : dayZero1900) + ms + (beforeLeap ? dayMs : 0));
  if (!from1904 && (serial < 1 || (serial >= 60 && serial < 61))) return null;
  const iso = date.toISOString();
  const isMidnight = ms % dayMs === 0;
  return hasTime && !isMidnight ? `${iso.slice(0, 10)}T${showTime(ms % dayMs)}` : iso.slice(0, 10);
}

function showTime(ms: number): string {
  const two = (count: number): string => String(count).padStart(2, '0');
  const seconds = (ms / 1000) % 60;
  return `${two(Math.floor(ms / hourMs))}:${two(Math.floor(ms / 60_000) % 60)}${seconds === 0 ? '' : `:${two(seconds)}`}`;
}

/** Built-in number formats by id; files do not list them. */
const builtIn: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
};

/** Limits of spreadsheets; styles and format codes beyond them are ignored. */
const mostStyles = 65_490;
const longestCode = 1_000;

/** East Asian calendar dates, whose codes are not in the file. */
function isEastAsianDate(id: number): boolean {
  return (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
}

/** Formats of the cell styles, indexed as cells refer to them. */
export async function readStyles(archive: WorkbookArchive, part: string | null): Promise<CellFormat[]> {
  const codes = new Map<number, string>();
  const formats: CellFormat[] = [];
  if (part === null || !archive.has(part)) return formats;
  let inCellFormats = false;
  await readAllXml(await archive.read(part), {
    open: (name, attribute) => {
      if (name === 'numFmt' && codes.size < mostStyles) {
        const code = attribute('formatCode') ?? '';
        codes.set(Number(attribute('numFmtId')), code.length > longestCode ? 'General' : code);
      }
      if (name === 'cellXfs') inCellFormats = true;
      if (name !== 'xf' || !inCellFormats || formats.length >= mostStyles) return;
      const id = Number(attribute('numFmtId') ?? '0');
      formats.push(readFormat(codes.get(id) ?? builtIn[id] ?? (isEastAsianDate(id) ? 'yyyy-mm-dd' : 'General')));
    },
    close: (name) => {
      if (name === 'cellXfs') inCellFormats = false;
    },
  });
  return formats;
}
