import { timeZone } from '../domain/time-zone.ts';

/**
 * Whether a cell names a zone of the IANA table. Abbreviations such as EST are refused although the table knows some:
 * they keep one offset all year, while whoever writes them means a zone that changes its clocks.
 */
export function isTimeZoneName(name: string): boolean {
  return name === 'UTC' || (name.length <= 64 && /^[A-Za-z]+\/[A-Za-z]/.test(name) && timeZone(name).isValid);
}
