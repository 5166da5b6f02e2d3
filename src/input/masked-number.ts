const shown = 2;
/** What is shorter tells too much by its ends; no number that can be called is. */
const fewest = 7;

/** A number of which only the last two digits, and how it begins, can be read: enough to tell rows apart, too little to call. */
export function maskedNumber(e164: string): string {
  if (e164.length < fewest) return '•'.repeat(e164.length);
  const head = e164.slice(0, shown);
  return `${head}${'•'.repeat(e164.length - 2 * shown)}${e164.slice(-shown)}`;
}
