/** Of one failure; each runs a whole campaign. */
const mostTries = 60;

/**
 * The smallest that still breaks: takes the first of the smaller ones that does, and goes on from it. `smaller` answers them largest step
 * first; `breaks` runs one and answers what it came to, or null.
 */
export async function shrink<Thing, Result>(
  whole: { thing: Thing; result: Result },
  smaller: (thing: Thing) => Iterable<Thing>,
  breaks: (thing: Thing) => Promise<Result | null>,
): Promise<{ thing: Thing; result: Result }> {
  let smallest = whole;
  let tries = 0;
  search: for (;;) {
    for (const thing of smaller(smallest.thing)) {
      if (tries === mostTries) return smallest;
      tries += 1;
      const result = await breaks(thing);
      if (result === null) continue;
      smallest = { thing, result };
      continue search;
    }
    return smallest;
  }
}

/** The list without one of its halves, then without a quarter, and so on down to single entries. */
export function* without<Entry>(list: readonly Entry[]): Generator<Entry[]> {
  for (let size = Math.ceil(list.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < list.length; from += size) yield [...list.slice(0, from), ...list.slice(from + size)];
}
