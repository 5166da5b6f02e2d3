/** Of one failure; each try runs a whole campaign. */
const mostTries = 60;
const longestMs = 2 * 60_000;

/** A thing that breaks, and what it came to. */
interface Broken<Thing, Result> {
  thing: Thing;
  result: Result;
}

export interface Shrunk<Thing, Result> extends Broken<Thing, Result> {
  /** Nothing smaller breaks, as far as `smaller` goes; false: the search ended at one of its limits, or was stopped. */
  isSmallest: boolean;
}

/** What to add to a story where less may do. */
export const notSmallest = `shrunk as far as ${mostTries} tries and ${longestMs / 60_000} minutes went`;

/**
 * The smallest that still breaks: takes the first of the smaller ones that does, and goes on from it. `smaller` answers them largest step
 * first; `breaks` runs one and answers what it came to, or null, also when it gives up because the signal says that the time is over.
 */
export async function shrink<Thing, Result>(
  whole: Broken<Thing, Result>,
  smaller: (thing: Thing) => Iterable<Thing>,
  breaks: (thing: Thing, over: AbortSignal) => Promise<Result | null>,
  stop?: AbortSignal,
): Promise<Shrunk<Thing, Result>> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), longestMs);
  const over = AbortSignal.any(stop === undefined ? [late.signal] : [late.signal, stop]);
  let smallest = whole;
  let tries = 0;
  try {
    search: for (;;) {
      for (const thing of smaller(smallest.thing)) {
        if (over.aborted || tries === mostTries) return { ...smallest, isSmallest: false };
        tries += 1;
        const result = await breaks(thing, over);
        if (result === null) continue;
        smallest = { thing, result };
        continue search;
      }
      return { ...smallest, isSmallest: !over.aborted };
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The list without one of its halves, then without a quarter, and so on down to single entries. */
export function* without<Entry>(list: readonly Entry[]): Generator<Entry[]> {
  for (let size = Math.ceil(list.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < list.length; from += size) yield [...list.slice(0, from), ...list.slice(from + size)];
}
