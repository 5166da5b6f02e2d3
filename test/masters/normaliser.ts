const realDays = [-1, 0, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));

/** Meaningless differences between runs: each value becomes its kind and number in order of appearance. */
const kinds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['folder', /(?:\/private)?\/(?:tmp|var\/folders)\/[\w./-]*?carillon-[\w-]+/g],
  ['address', /127\.0\.0\.1:\d+|localhost:\d+/g],
  ['uuid', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g],
  ['database', /store_[0-9a-f]{32}/g],
  ['hash', /(?<![\w#])[0-9a-f]{32,64}\b/g],
  ['id', /(?<![\w#.])[0-9a-f]{12}(?!\w)/g],
  ['key', /MCowBQYDK2VwAyEA[\w+/]{43}=/g],
  ['signature', /(?<![\w+/])[\w+/]{86}==/g],
  ['secret', /(?<=signature=|nonce[-=]"?|\/new\/(?!:))[\w+/=-]{16,}/g],
];

/** The real clock shows in a few places. No numbers, since some instants are equal by chance. */
const realTimes: readonly RegExp[] = [
  new RegExp(`(?:${realDays.join('|')})[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?Z?`, 'g'),
  /(?<="(?:real\w*At|durationMs)": |[?]expires=)\d+/g,
  /(?<=>)\d+ ms(?=<)/g,
  // How far the ledger's time is from a terminal's.
  /(?<=\()(?:in )?\d{3,} days(?: ago)?(?=\))/g,
  // In the id of a scheduled run.
  /\d{4}-\d\d-\d\dt\d{6}/g,
];

/** Removes what differs between runs; equal values get equal names throughout. */
export function normalise(text: string): string {
  const known = new Map<string, string>();
  const nameOf = (kind: string, found: string): string => {
    const name = known.get(`${kind} ${found}`) ?? `<${kind} ${known.size + 1}>`;
    known.set(`${kind} ${found}`, name);
    return name;
  };
  const placed = text.replaceAll(process.cwd(), '<here>');
  const named = kinds.reduce((shown, [kind, pattern]) => shown.replaceAll(pattern, (found) => nameOf(kind, found)), placed);
  return realTimes.reduce((shown, pattern) => shown.replaceAll(pattern, '<real time>'), named);
}
