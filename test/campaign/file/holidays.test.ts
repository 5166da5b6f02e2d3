import { expect, test } from 'vitest';
import { holidayDates } from '../../../src/campaign/file/holidays.ts';

test.each([
  [2026, 'Holi', '2026-03-04'],
  [2026, 'Id-ul-Fitr', '2026-03-21'],
  [2026, 'Id-ul-Zuha', '2026-05-27'],
  [2026, 'Muharram', '2026-06-26'],
  [2026, 'Milad-un-Nabi', '2026-08-26'],
  [2026, 'Dussehra', '2026-10-20'],
  [2026, 'Diwali', '2026-11-08'],
  [2026, 'Guru Nanak Jayanti', '2026-11-24'],
  [2026, 'Republic Day', '2026-01-26'],
  [2027, 'Holi', '2027-03-22'],
  [2027, 'Diwali', '2027-10-29'],
  [2028, 'Diwali', '2028-10-17'],
])('holidays of India in %i have %s on %s', (year, _, date) => {
  expect(holidayDates({ country: 'IN', region: null }, year, 1)).toContain(date);
  expect(holidayDates({ country: 'IN', region: 'MH' }, year, 1)).toContain(date);
});

test('holidays of India in two years are more than twelve', () => {
  expect(holidayDates({ country: 'IN', region: null }, 2026, 2).length).toBeGreaterThanOrEqual(30);
});

test('other countries have the days that they had', () => {
  expect(holidayDates({ country: 'FR', region: null }, 2026, 1)).toEqual([
    '2026-01-01', '2026-04-06', '2026-05-01', '2026-05-08', '2026-05-14', '2026-05-25',
    '2026-07-14', '2026-08-15', '2026-11-01', '2026-11-11', '2026-12-25',
  ]); // prettier-ignore
});
