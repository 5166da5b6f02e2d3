const readings = new Map<string, boolean>();
/** More spellings than there are zones: beyond it, a list brings rubbish, and memory matters more than speed. */
const mostReadings = 10_000;

/**
 * Whether a cell names a zone of the IANA table. Abbreviations such as EST are refused although the table knows some:
 * they keep one offset all year, while whoever writes them means a zone that changes its clocks.
 */
export function isTimeZoneName(name: string): boolean {
  const known = readings.get(name);
  if (known !== undefined) return known;
  const valid = name === 'UTC' || (name.length <= 64 && /^[A-Za-z]+\/[A-Za-z]/.test(name) && isKnownHere(name));
  if (readings.size < mostReadings) readings.set(name, valid);
  return valid;
}

function isKnownHere(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // A RangeError is how Intl says that it does not know the name.
    return false;
  }
}
