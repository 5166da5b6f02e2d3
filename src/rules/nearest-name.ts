/** The known name nearest to `name`; null: none is near enough. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = fold(name);
  let nearest: string | null = null;
  let nearestDistance = (wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3))) + 1;
  for (const candidate of known) {
    if (candidate === '') continue;
    const folded = fold(candidate);
    // Most differ too much in length, and a list may have thousands of columns.
    if (Math.abs(wanted.length - folded.length) >= nearestDistance) continue;
    const distance = editDistance(wanted, folded);
    if (distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** ` Did you mean "first_name"?`, formatted by `show`; empty: none is near enough. */
export function didYouMean(name: string, known: readonly string[], show: (name: string) => string = JSON.stringify) {
  const nearest = nearestName(name, known);
  return nearest === null ? '' : ` Did you mean ${show(nearest)}?`;
}

/** Case, spaces and separators are the commonest mistakes, so they cost nothing. */
function fold(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[\s_.-]+/g, '');
}

/** Levenshtein distance. */
export function editDistance(a: string, b: string): number {
  return distancesTo(a, b).at(-1) ?? 0;
}

/** Levenshtein distance to the nearest beginning of the other text. */
export function distanceToBeginning(a: string, b: string): number {
  return Math.min(...distancesTo(a, b.slice(0, 2 * a.length)));
}

/** Levenshtein distance to each beginning of the other text, the shortest first. */
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
