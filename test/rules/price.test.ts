import { expect, test } from 'vitest';
import { costOf, moneyText } from '../../src/rules/price.ts';

test('time on the line costs by the second, rounded once', () => {
  const price = { perMinuteMicros: 120_000, currency: 'USD' };
  expect(costOf(61_000, price)).toBe(122_000);
  expect(costOf(499, price)).toBe(0);
  expect(costOf(90 * 3_600_000, { ...price, perMinuteMicros: 1_000_000_000 })).toBe(5_400_000_000_000);
  expect(moneyText(1_234_500_000, 'USD')).toBe('1,234.50 USD');
  expect(moneyText(125_000, 'EUR', 6)).toBe('0.125 EUR');
});
