import { showDate } from './date.ts';

/** How a cell shows its number. */
export type CellFormat =
  | { kind: 'general' }
  /** Shown as ISO text, whatever the order of day and month in the format. */
  | { kind: 'date'; hasDate: boolean; hasTime: boolean }
  | { kind: 'number'; sections: NumberSection[] };

interface NumberSection {
  /** `<=9999999`, say; null: the place of the section decides. */
  condition: { operator: string; value: number } | null;
  /** Placeholders (`0`, `#`, `?`) and what stands between them, before the decimal point. */
  whole: Part[];
  /** Least and most digits after the point. */
  decimals: { least: number; most: number };
  thousands: boolean;
  percent: boolean;
  after: string;
}

type Part = { digit: '0' | '#' } | { text: string };

/** Reads a format code. What is not understood (fractions, exponents, words by value) shows the number as it is. */
export function readFormat(code: string): CellFormat {
  const bare = code.replace(/"[^"]*"|\\.|_.|\*./g, '').replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '');
  if (/^general$|^@?$/i.test(bare.trim())) return { kind: 'general' };
  if (/[ydhs]|m/i.test(bare) && !/general/i.test(bare)) {
    const withoutHalf = bare.replace(/am\/pm|a\/p/gi, 'h');
    const hasTime = /[hs]/i.test(withoutHalf);
    return { kind: 'date', hasDate: /[yd]/i.test(withoutHalf) || !hasTime, hasTime };
  }
  const sections = code.split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/).map(readSection);
  const known = sections.slice(0, 3).filter((section) => section !== null);
  return known.length === 0 || known.length < Math.min(3, sections.length)
    ? { kind: 'general' }
    : { kind: 'number', sections: known };
}

/** The text of a number cell. `raw` is the number as the file writes it. */
export function showNumber(raw: string, format: CellFormat, from1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) return raw;
  if (format.kind === 'date') return showDate(value, format, from1904) ?? showPlain(value);
  if (format.kind === 'general' || Math.abs(value) >= 1e15) return showPlain(value);
  return showInSection(value, chooseSection(value, format.sections));
}

/** All its digits, and no exponent while they are certain: a spreadsheet keeps fifteen. */
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

function readSection(code: string): NumberSection | null {
  const section: NumberSection = {
    condition: null,
    whole: [],
    decimals: { least: 0, most: 0 },
    thousands: false,
    percent: false,
    after: '',
  };
  let afterPoint = false;
  let seenDigit = false;
  for (const [token] of code.matchAll(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|./gs)) {
    if (token.startsWith('[')) {
      const condition = /^\[([<>=]{1,2})(-?[\d.]+)\]$/.exec(token);
      if (condition !== null) section.condition = { operator: condition[1] ?? '', value: Number(condition[2]) };
      const currency = /^\[\$([^\]-]*)/.exec(token)?.[1];
      if (currency !== undefined) addText(section, currency, afterPoint);
    } else if (/^[0#?]$/.test(token)) {
      seenDigit = true;
      if (afterPoint) {
        if (section.after !== '') return null;
        section.decimals.most += 1;
        if (token === '0') section.decimals.least += 1;
      } else section.whole.push({ digit: token === '0' ? '0' : '#' });
    } else if (token === '.') {
      if (afterPoint) return null;
      afterPoint = true;
    } else if (token === ',') section.thousands = true;
    else if (token === '%') {
      section.percent = true;
      addText(section, '%', afterPoint);
    } else if (/^[eE/@]$/.test(token)) return null;
    else if (token.startsWith('_')) addText(section, ' ', afterPoint);
    else if (!token.startsWith('*')) addText(section, token.replace(/^"|"$|^\\/g, ''), afterPoint);
  }
  // A comma behind the last digit divides by a thousand.
  if (/,(?![^.]*[0#?])/.test(code.replace(/"[^"]*"|\[[^\]]*\]/g, '').split('.')[0] ?? '')) return null;
  return seenDigit ? section : null;
}

function addText(section: NumberSection, text: string, afterPoint: boolean): void {
  if (afterPoint) section.after += text;
  else section.whole.push({ text });
}

function chooseSection(value: number, sections: readonly NumberSection[]): { section: NumberSection; signed: boolean } {
  const [first, second, third] = sections as [NumberSection, ...NumberSection[]];
  if (sections.some(({ condition }) => condition !== null)) {
    return {
      section: sections.find(({ condition }) => condition === null || holds(value, condition)) ?? first,
      signed: true,
    };
  }
  if (value < 0 && second !== undefined) return { section: second, signed: false };
  return { section: value === 0 && third !== undefined ? third : first, signed: true };
}

function holds(value: number, { operator, value: limit }: { operator: string; value: number }): boolean {
  switch (operator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '=':
      return value === limit;
    default:
      return value !== limit;
  }
}

function showInSection(value: number, { section, signed }: { section: NumberSection; signed: boolean }): string {
  const shown = Math.abs(section.percent ? Number((value * 100).toPrecision(15)) : value);
  const [wholeDigits = '0', decimals = ''] = roundDecimal(shown, section.decimals.most).split('.');
  const least = section.decimals.least;
  const kept = decimals.slice(0, least) + decimals.slice(least).replace(/0+$/, '');
  const isZero = /^0*$/.test(wholeDigits + kept);
  const sign = value < 0 && signed && !isZero ? '-' : '';
  return sign + fillWhole(wholeDigits.replace(/^0+/, ''), section) + (kept === '' ? '' : `.${kept}`) + section.after;
}

/** Half away from zero, of the number that people see: 1.005 is a little less in the machine. */
function roundDecimal(value: number, places: number): string {
  const shifted = Number(`${String(Number(value.toPrecision(15)))}e${String(places)}`);
  return Number.isFinite(shifted) && shifted < 1e15
    ? Number(`${String(Math.round(shifted))}e-${String(places)}`).toFixed(places)
    : value.toFixed(places);
}

/** Fills the placeholders from the right; digits that are left over go before the first of them. */
function fillWhole(digits: string, { whole, thousands }: NumberSection): string {
  const places = whole.filter((part) => 'digit' in part).length;
  const padded = digits.padStart(places, ' ');
  let next = 0;
  let position = padded.length;
  const shown = whole.map((part) => {
    if ('text' in part) return part.text;
    const take = next === 0 ? padded.length - places + 1 : 1;
    const piece = padded.slice(next, next + take);
    next += take;
    const filled = part.digit === '0' ? piece.replaceAll(' ', '0') : piece.replaceAll(' ', '');
    const grouped = thousands ? group(filled, position) : filled;
    position -= take;
    return grouped;
  });
  return places === 0 ? whole.map((part) => ('text' in part ? part.text : '')).join('') + digits : shown.join('');
}

/** `position`: how many digits are left from the first of these on. */
function group(digits: string, position: number): string {
  return digits
    .split('')
    .map((digit, index) => digit + ((position - index - 1) % 3 === 0 && position - index > 1 ? ',' : ''))
    .join('');
}
