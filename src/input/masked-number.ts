/** A number of which only the last two digits, and how it begins, can be read: enough to tell rows apart, too little to call. */
export function maskedNumber(e164: string): string {
  const shown = 2;
  const head = e164.slice(0, shown);
  return `${head}${'•'.repeat(Math.max(0, e164.length - head.length - shown))}${e164.slice(-shown)}`;
}
