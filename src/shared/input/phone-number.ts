import { isSupportedCountry, parsePhoneNumberFromString, type CountryCode, type PhoneNumber } from 'libphonenumber-js/max';
import type { Numbering } from '../../rules/row-terms.ts';
import { hasPersonalForm, isUnknownArea, readNumberingTable } from './numbering.ts';

export type PhoneReading =
  | {
      ok: true;
      e164: string;
      /** ISO 3166 code, or null for numbers of no country (such as international toll-free). */
      country: string | null;
      /** Only for a number outside the library's data: its zones, or null if unknown. */
      range?: { zones: readonly string[] | null };
    }
  | {
      ok: false;
      reason: 'missing_phone' | 'invalid_phone' | 'unknown_range' | 'invalid_country';
      /** What is wrong and the fix; never quotes the number. */
      hint: string;
    };

/**
 * Parses a phone cell; never throws. `region`: ISO country of numbers without `+`. Accepts digits of any script, odd blanks and dashes.
 * Refuses what a guess could turn into another recipient's number: letters, extensions, spreadsheet decimals, several numbers. `numbering`:
 * extra callable ranges; default: none.
 */
export function readPhoneNumber(cell: string, region: string | null, numbering?: Numbering): PhoneReading {
  const text = normalise(cell);
  const reading = readOne(text, region, numbering);
  const mayBeTwo = reading.ok ? /[;,|&/\n]/.test(text) : reading.reason !== 'missing_phone';
  return mayBeTwo && holdsTwo(text, region) ? invalid('the cell holds two numbers; give one number per cell') : reading;
}

function readOne(text: string, region: string | null, numbering: Numbering | undefined): PhoneReading {
  if (text === '') return { ok: false, reason: 'missing_phone', hint: 'the cell is empty' };
  const damage = findDamage(text);
  if (damage !== null) return invalid(damage);

  const international = text.startsWith('+');
  const country = international ? null : readCountry(region);
  if (country !== null && !country.ok) return country;
  const options = country === null ? { extract: false } : { extract: false, defaultCountry: country.code };
  const number = parsePhoneNumberFromString(text, options);
  if (number === undefined || !number.isValid()) {
    const beyond = numbering !== undefined && international && number?.isPossible() === true ? readBeyond(number.number, numbering) : null;
    if (beyond !== null) return beyond;
    const damaged = country === null ? null : explainInvalid(text, country.code);
    if (damaged !== null) return invalid(damaged);
    const inCountry = country === null ? 'its country' : country.code;
    if (number?.isPossible() !== true) return invalid(`this cannot be a number of ${inCountry}: it has too few or too many digits`);
    return explainUnknown(number, { inCountry, isKept: numbering !== undefined });
  }
  if (/^\+1(?!\d{10}$)/.test(number.number))
    return invalid('a number of North America has ten digits; short ones can be called from their own country alone');
  return { ok: true, e164: number.number, country: number.country ?? null };
}

function readCountry(region: string | null): { ok: true; code: CountryCode } | Extract<PhoneReading, { ok: false }> {
  const code = region?.trim().toUpperCase() ?? '';
  if (code === '') {
    return invalid(
      'a number without + needs a country: write + and the country code, or say the country (list.country, list.default_region, --region)',
    );
  }
  if (isSupportedCountry(code)) return { ok: true, code };
  const known = code === 'UK' ? 'GB' : 'US or GB';
  return {
    ok: false,
    reason: 'invalid_country',
    hint: `"${region?.trim()}" is no country; write its two-letter ISO code, such as ${known}`,
  };
}

/** A number outside the library's data that may be called; null: it may not. */
function readBeyond(e164: string, { call, ranges }: Numbering): PhoneReading | null {
  const isNorthAmerican = e164.startsWith('+1');
  if (isNorthAmerican && !(hasPersonalForm(e164) && isUnknownArea(e164))) return null;
  const known = ranges.find(({ prefix }) => e164.startsWith(prefix));
  if (known !== undefined) return { ok: true, e164, country: known.country, range: { zones: known.zones } };
  // Elsewhere a new range looks like a premium one. US rules are the strictest of the plan.
  return call && isNorthAmerican ? { ok: true, e164, country: 'US', range: { zones: null } } : null;
}

/** For a number of possible length. `isKept`: the campaign distinguishes the two reasons. */
function explainUnknown(
  { number: e164, countryCallingCode }: PhoneNumber,
  { inCountry, isKept }: { inCountry: string; isKept: boolean },
): Extract<PhoneReading, { ok: false }> {
  const isNorthAmerican = countryCallingCode === '1';
  if (isNorthAmerican && !(hasPersonalForm(e164) && isUnknownArea(e164)))
    return invalid(`this cannot be a number of ${inCountry}: no phone has these first digits; check them`);
  const range = `this is a range that is not in the numbering data of ${readNumberingTable().data_of}`;
  const advice = isNorthAmerican ? 'check the digits, or write + before it and list.unknown_ranges: call' : 'check the digits';
  return { ok: false, reason: isKept ? 'unknown_range' : 'invalid_phone', hint: `${range}: ${advice}` };
}

/** Suggests a valid number but never uses it: a wrong guess would call a stranger. Null: no suggestion. */
function explainInvalid(text: string, region: CountryCode): string | null {
  const state = `this is no valid number in ${region}`;
  const parse = (candidate: string) => parsePhoneNumberFromString(candidate, { extract: false, defaultCountry: region });
  const isValid = (candidate: string): boolean => parse(candidate)?.isValid() === true;
  if (/^\d+$/.test(text)) {
    const advice = 'format the column as text and export again';
    if (isValid(`+${text}`)) return `${state}; a spreadsheet may have dropped the + before it: ${advice}`;
    if (isValid(`0${text}`)) return `${state}; a spreadsheet may have dropped a leading 0: ${advice}`;
  }
  return parse(text)?.isPossible() === true ? null : `${state}; write numbers of other countries with + and the country code`;
}

/** ASCII digits, plain blanks and dashes; no invisible characters, no spreadsheet apostrophe. */
function normalise(cell: string): string {
  const text = /^[\x20-\x7e]*$/.test(cell) ? cell : toPlainCharacters(cell);
  return text
    .trim()
    .replace(/^'/, '')
    .trim()
    .replace(/^tel:\s*(.*)$/is, (_, number: string) => withContext(number))
    .replace(/^[([]\+(\d+)[)\]]/, '+$1');
}

/** Number of a `tel:` URI with its context's country: `437-555-0157;phone-context=+1`. */
function withContext(number: string): string {
  const [, local, country] = /^([^+;]+);phone-context=(\+\d{1,7})$/i.exec(number) ?? [];
  return local === undefined || country === undefined ? number : `${country}${local}`;
}

function toPlainCharacters(cell: string): string {
  return (
    cell
      // Superscripts and fractions are not digits of the number, so they stay.
      .replace(/\P{No}+/gu, (part) => part.normalize('NFKC'))
      .replace(/[\p{Cf}\p{Mn}]/gu, '')
      .replace(/[\p{Pd}\u2212]/gu, '-')
      .replace(/[\u2018\u2019]/gu, "'")
      .replace(/\s/gu, ' ')
      .replace(/\p{Nd}/gu, digitValue)
  );
}

/** Separators that also occur within one number. */
const withinNumber = /^[\s().-]+$/;
const beforeExtension = /#|x|ext/i;
const fewestDigits = 7;

/** True when both sides of some gap are valid numbers; at a separator that never occurs within a number, `fewestDigits` suffice. */
function holdsTwo(text: string, region: string | null): boolean {
  const country = readCountry(region);
  const options = country.ok ? { extract: false, defaultCountry: country.code } : { extract: false };
  const isNumber = (part: string): boolean => parsePhoneNumberFromString(part, options)?.isValid() === true;
  return [...text.matchAll(/\D+/g)].some(({ 0: gap, index }) => {
    const first = text.slice(0, index).replace(/^[^+\d]+/, '');
    const second = text.slice(index).replace(/^[^+\d]+|\D+$/g, '');
    const isParted = !withinNumber.test(gap) && !beforeExtension.test(gap);
    const isLong = (part: string): boolean => part.replace(/\D/g, '').length >= fewestDigits;
    return [first, second].every((part) => isNumber(part) || (isParted && isLong(part)));
  });
}

/** Unicode keeps a script's ten digits contiguous, so the value is the distance from the first. */
function digitValue(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
  return String(value);
}

/** Why the text is not a single number, or null. */
function findDamage(text: string): string | null {
  if (/^\+?\d+([.,]\d+)?e[+-]?\d+$/i.test(text)) {
    return 'a spreadsheet has turned the number into scientific notation and may have lost digits; format the column as text and export again';
  }
  if (/^\+?\d{7,}[.,]0{1,2}$/.test(text) || /^\+?\d{1,3}(,\d{3})+$/.test(text)) {
    return 'a spreadsheet has added decimals or separators; format the column as text and export again';
  }
  if (/^#+$|^#(N\/A|NUM|REF|VALUE|NAME|NULL|DIV)/i.test(text)) {
    return 'this is an error or a filler of a spreadsheet; widen the column or repair the formula and export again';
  }
  if (/\d\s*(;|#|,|ext\b|ext\.|extension|x)\s*\.?=?\s*(ext=)?\d{1,7}$/i.test(text)) {
    return 'extensions cannot be dialled; give the direct number';
  }
  if (isDate(text)) return 'this is a date; check that the right column is named, and its cells';
  const letter = /\p{L}/u.exec(text)?.[0];
  if (letter !== undefined) return `letters are not read as digits; replace "${letter}"`;
  const odd = /[^+\d\s()[\]./-]/u.exec(text)?.[0];
  if (odd !== undefined) return `the character "${odd}" does not belong in a phone number`;
  if (/.\+/.test(text)) return 'a + stands inside the number; give one number per cell';
  const digits = text.replace(/\D/g, '').length;
  if (digits === 0) return 'there are no digits in the cell';
  // E.164 has at most 15 digits, plus an international prefix.
  if (digits > 20) return 'there are too many digits for one number; give one number per cell';
  return null;
}

/** Day, month and year in any order; no number is grouped like that. */
function isDate(text: string): boolean {
  const groups = /^(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})$/.exec(text);
  if (groups === null) return false;
  const [, first = '', separator, second = '', last = ''] = groups;
  const isYear = (part: string): boolean => /^(?:19|20)\d\d$/.test(part) || (separator === '/' && /^\d\d$/.test(part));
  const [one, other] = isYear(last) ? [first, second] : isYear(first) ? [second, last] : ['', ''];
  const [low = 0, high = 0] = [Number(one), Number(other)].sort((a, b) => a - b);
  return low >= 1 && low <= 12 && high <= 31;
}

function invalid(hint: string): Extract<PhoneReading, { ok: false }> {
  return { ok: false, reason: 'invalid_phone', hint };
}

/** True when a list cell may be a phone number. `region`: for those without `+`. */
export function looksLikeNumber(cell: string, region: string | null): boolean {
  return readPhoneNumber(cell, region).ok || /^\+?[\s()./-]*(?:\d[\s()./-]*){9,15}$/.test(cell.trim());
}
