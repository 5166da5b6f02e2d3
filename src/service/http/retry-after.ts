const imfFixdate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850 = /^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Ten digits of seconds are three centuries: more is a fault, not a wish. */
const mostDigits = 10;

/** A wish beyond a day is a fault as well, like an instant in epoch seconds where a span belongs; after a day it is asked again. */
const longestMs = 24 * 3_600_000;

/** Epoch milliseconds of an HTTP date in any of the three forms of RFC 9110 section 5.6.7, or null. */
export function parseHttpDate(value: string): number | null {
  const text = value.trim();
  // The asctime form has no zone and means UTC; Date.parse alone would read it as local time.
  const dated = imfFixdate.test(text) || rfc850.test(text) ? text : asctime.test(text) ? `${text} GMT` : null;
  if (dated === null) return null;
  const ms = Date.parse(dated);
  return Number.isNaN(ms) ? null : ms;
}

/**
 * Milliseconds to wait by a Retry-After header, on the service's clock, at most 24 hours; null when it says nothing that can be read.
 * A date counts from the Date header of the same answer, because the clock here may differ; without one, from `nowMs`.
 */
export function parseRetryAfter(value: string | null, dateHeader: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) {
    const digits = text.split('.')[0] ?? '';
    return digits.length > mostDigits ? null : Math.min(longestMs, Math.ceil(Number(text) * 1000));
  }
  const until = parseHttpDate(text);
  if (until === null) return null;
  const from = (dateHeader === null ? null : parseHttpDate(dateHeader)) ?? nowMs;
  return Math.min(longestMs, Math.max(0, until - from));
}
