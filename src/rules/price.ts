/** What a minute on the line costs, as the campaign file says it. */
export interface Price {
  /** Millionths of the currency. */
  perMinuteMicros: number;
  /** ISO 4217, such as USD. */
  currency: string;
}

/**
 * What so much time on the line costs, in millionths of the currency. Time counts by the second, and the sum is rounded once: what a
 * provider rounds up for each call is not in it.
 */
export function costOf(lineMs: number, { perMinuteMicros }: Price): number {
  return Math.round((Math.round(lineMs / 1000) * perMinuteMicros) / 60);
}

/** `1,234.50 USD`; `most` digits behind the point where they are needed. */
export function moneyText(micros: number, currency: string, most = 2): string {
  return `${(micros / 1_000_000).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: most })} ${currency}`;
}
