/** Price of a minute on the line, as in the campaign file. */
export interface Price {
  /** Millionths of the currency. */
  perMinuteMicros: number;
  /** ISO 4217, such as USD. */
  currency: string;
}

/**
 * Cost of this time on the line, in millionths of the currency. Counts by the second and rounds the sum once; a provider's rounding per
 * call is not included.
 */
export function costOf(lineMs: number, { perMinuteMicros }: Price): number {
  return Math.round((Math.round(lineMs / 1000) * perMinuteMicros) / 60);
}

/** `1,234.50 USD`; up to `most` decimals where needed. */
export function moneyText(micros: number, currency: string, most = 2): string {
  return `${(micros / 1_000_000).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: most })} ${currency}`;
}
