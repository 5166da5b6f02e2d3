/** How many letters must be put in, taken out or changed to make one text of the other (Levenshtein). */
export function editDistance(a: string, b: string): number {
  return distancesTo(a, b).at(-1) ?? 0;
}

/** The same to whichever beginning of the other text is nearest. */
export function distanceToBeginning(a: string, b: string): number {
  return Math.min(...distancesTo(a, b.slice(0, 2 * a.length)));
}

/** The distance of a text to each beginning of the other, the shortest first. */
function distancesTo(a: string, b: string): number[] {
  const [from, to] = [Array.from(a), Array.from(b)];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row;
}
