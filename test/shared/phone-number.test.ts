import { expect, test } from 'vitest';
import { readPhoneNumber } from '../../src/shared/input/phone-number.ts';

const newYork = { ok: true, e164: '+12125550101', country: 'US' };
const london = { ok: true, e164: '+442079460101', country: 'GB' };

test.each<[string, string | null, object]>([
  ['+12125550101', null, newYork],
  ['+1 (212) 555-0101', 'GB', newYork],
  ['(212) 555-0101', 'US', newYork],
  ['212.555.0101', ' us ', newYork],
  ['1 212 555 0101', 'US', newYork],
  ["'+12125550101", null, newYork],
  [" '+12125550101", null, newYork],
  ["' +12125550101", null, newYork],
  ['1212555.0101', 'US', newYork],
  ['+12125550101', 'Narnia', newYork],
  ['020 7946 0101', 'GB', london],
  ['2079460101', 'GB', london],
  ['00442079460101', 'GB', london],
  ['011 44 20 7946 0101', 'US', london],
  ['+44 (0)20 7946 0101', null, london],
  ['(+44) 20 7946 0101', null, london],
  ['\ufeff+1\u00a0212\u2009555\u20110101\u200b', null, newYork],
  ['\u202d+1 212 555 0101\u202c', null, newYork],
  ['+\u0661\u0662\u0661\u0662\u0665\u0665\u0665\u0660\u0661\u0660\u0661', null, newYork],
  ['+\u0967\u0968\u0967\u0968\u096b\u096b\u096b\u0966\u0967\u0966\u0967', null, newYork],
  ['\uff0b\uff14\uff14\uff12\uff10\uff17\uff19\uff14\uff16\uff10\uff11\uff10\uff11', null, london],
  ['[212] 555-0101', 'US', newYork],
  ['[+1] 212 555 0101', null, newYork],
  ['[437] 555-0157', 'CA', { ok: true, e164: '+14375550157', country: 'CA' }],
  ['tel:+12125550101', null, newYork],
  ['TEL: (212) 555-0101', 'US', newYork],
  ['tel:212-555-0101;phone-context=+1', null, newYork],
  ['tel:020 7946 0101;phone-context=+44', 'US', london],
  ['+80012345678', null, { ok: true, e164: '+80012345678', country: null }],
])('%j with region %s is read', (cell, region, expected) => {
  expect(readPhoneNumber(cell, region)).toEqual(expected);
});

test.each<[string, string | null, string, RegExp]>([
  ['', 'US', 'missing_phone', /empty/],
  [' \u00a0\u200b\t', 'US', 'missing_phone', /empty/],
  ["'", 'US', 'missing_phone', /empty/],
  ['2125550101', null, 'invalid_phone', /without \+ needs a country/],
  ['2125550101', ' ', 'invalid_phone', /without \+ needs a country/],
  ['2125550101', 'USA', 'invalid_country', /^"USA" is no country; write its two-letter ISO code, such as US or GB$/],
  ['2125550101', ' Narnia ', 'invalid_country', /^"Narnia" is no country/],
  ['2125550101', 'uk', 'invalid_country', /"uk" is no country.*such as GB$/],
  ['+1999 555 0101', null, 'invalid_phone', /cannot be a number of its country: no phone/],
  ['+999123456', null, 'invalid_phone', /cannot be a number of its country: it has too/],
  ['212555010', 'US', 'invalid_phone', /no valid number in US/],
  ['911', 'US', 'invalid_phone', /no valid number in US/],
  ['+1 212 555-O1O1', null, 'invalid_phone', /letters.*"O"/],
  ['tel:+1-212-555-0101;ext=12', null, 'invalid_phone', /extensions cannot be dialled/],
  ['tel:2125550101;phone-context=example.com', 'US', 'invalid_phone', /letters/],
  ['tel:', 'US', 'missing_phone', /empty/],
  ['3/10/1984', 'CA', 'invalid_phone', /this is a date/],
  ['31.12.2026', 'NO', 'invalid_phone', /this is a date/],
  ['1984-03-10', 'CA', 'invalid_phone', /this is a date/],
  ['3/10/84', 'DE', 'invalid_phone', /this is a date/],
  ['310-1984', 'CA', 'invalid_phone', /has ten digits/],
  ['n/a', 'US', 'invalid_phone', /letters.*"n"/],
  ['1.2125E+10', 'US', 'invalid_phone', /scientific notation/],
  ['1,21255501E10', 'US', 'invalid_phone', /scientific notation/],
  ['+2E+10', 'US', 'invalid_phone', /scientific notation/],
  ['2125550101E0', 'US', 'invalid_phone', /scientific notation/],
  ['call 2E10', 'US', 'invalid_phone', /letters.*"c"/],
  ['2.1255E10 home', 'US', 'invalid_phone', /letters.*"E"/],
  ['2125550101.0', 'US', 'invalid_phone', /decimals/],
  ['2125550101,00', 'US', 'invalid_phone', /decimals/],
  ['2,125,550,101', 'US', 'invalid_phone', /separators/],
  ['12,125,550,101', 'US', 'invalid_phone', /separators/],
  ['212,555-0101', 'US', 'invalid_phone', /"," does not belong/],
  ['+1,2125550101', null, 'invalid_phone', /"," does not belong/],
  ['########', 'US', 'invalid_phone', /filler of a spreadsheet/],
  ['#N/A', 'US', 'invalid_phone', /error or a filler of a spreadsheet/],
  ['#2125550101', 'US', 'invalid_phone', /"#" does not belong/],
  ['+12125550101#', null, 'invalid_phone', /"#" does not belong/],
  ['2125550101 #N/A', 'US', 'invalid_phone', /letters.*"N"/],
  ['+12125550101 x12', null, 'invalid_phone', /extensions/],
  ['+12125550101 ext 5', null, 'invalid_phone', /extensions/],
  ['+12125550101 x5', null, 'invalid_phone', /extensions/],
  ['+12125550101;ext=5', null, 'invalid_phone', /extensions/],
  ['+12125550101#5', null, 'invalid_phone', /extensions/],
  ['+12125550101,,5', null, 'invalid_phone', /","/],
  ["212'5550101", 'US', 'invalid_phone', /"'"/],
  ['+1212\u20195550101', null, 'invalid_phone', /"'"/],
  ['+1212+555010', null, 'invalid_phone', /a \+ stands inside the number/],
  ['212*555*0101', 'US', 'invalid_phone', /"\*"/],
  ['+12125550101\u00b2', null, 'invalid_phone', /"\u00b2"/],
  ['212555010121255501020000', 'US', 'invalid_phone', /too many digits/],
  ['--', 'US', 'invalid_phone', /no digits/],
])('%j with region %s is refused as %s', (cell, region, reason, hint) => {
  const reading = readPhoneNumber(cell, region);
  expect(reading).toMatchObject({ ok: false, reason });
  expect(reading.ok ? '' : reading.hint).toMatch(hint);
});

test.each<[string, string | null]>([
  ['+12125550101 / +12125550102', null],
  ['+12125550101+12125550102', null],
  ['tel:+12125550101 tel:+12125550102', null],
  ['2125550101/2125550102', 'US'],
  ['212 555 0101 212 555 0102', 'US'],
  ['212-555-0101-212-555-0102', 'US'],
  ['(212) 555-0101 (212) 555-0102', 'US'],
  ['home 2125550101 cell 2125550102', 'US'],
  ['212-555-0101 or 212-555-0102', 'US'],
  ['2125550101;2125550102', 'US'],
  ['2125550101, 5550102', 'US'],
  ['2125550101\n2125550102', 'US'],
  ['212 555 0101 / 212 555 0102 / 212 555 0103', 'US'],
  ['020 7946 0101 | 020 7946 0102', 'GB'],
  // Together they would be one number of the length that some have there.
  ['01 5885 / 01 5886', 'AT'],
])('%j with region %s is refused as two numbers, wherever they are parted', (cell, region) => {
  const hint = 'the cell holds two numbers; give one number per cell';
  expect(readPhoneNumber(cell, region)).toEqual({ ok: false, reason: 'invalid_phone', hint });
});

test('the numbers kept free for fiction are valid', () => {
  for (let i = 100; i < 200; i++) {
    for (const area of ['212', '305', '415', '907', '808']) {
      expect(readPhoneNumber(`(${area}) 555-0${i}`, 'US')).toMatchObject({ ok: true, e164: `+1${area}5550${i}` });
    }
    expect(readPhoneNumber(`020 7946 0${i}`, 'GB')).toMatchObject({ ok: true, e164: `+442079460${i}` });
  }
});

test('a hint never quotes the number', () => {
  for (const cell of ['+19995550101', '2125550101.0', '+12125550101 ext 5', '555-01O1', '999 555 0101']) {
    const reading = readPhoneNumber(cell, 'US');
    expect(reading.ok).toBe(false);
    expect(reading.ok ? '' : reading.hint).not.toMatch(/\d{3}/);
  }
});

test.each([
  ['442079460101', 'US', /dropped the \+ before it: format the column as text and export again$/],
  // A blank is no spreadsheet's doing.
  ['44 20 7946 0101', 'US', /write numbers of other countries with \+/],
  ['11442079460101', 'US', /dropped a leading 0: format the column as text and export again$/],
  ['0442079460101', 'GB', /dropped a leading 0/],
  ['12125550101', 'GB', /dropped the \+ before it/],
  ['255501', 'US', /write numbers of other countries with \+/],
])('%s without + in %s is never completed, but what may be missing is told', (cell, region, hint) => {
  expect(readPhoneNumber(cell, region)).toMatchObject({
    ok: false,
    reason: 'invalid_phone',
    hint: expect.stringMatching(hint),
  });
});
