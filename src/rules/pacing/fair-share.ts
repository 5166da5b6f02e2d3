/** What one campaign could use of lines that several share. */
export interface Demand {
  id: string;
  /** Above 0. Of two that both want more, the one with twice the weight gets twice the lines. */
  weight: number;
  /** Lines that it could use now. */
  lines: number;
  /** When it last took lines; 0 before the first. */
  tookAt: number;
}

/**
 * Shares out lines: nobody gets more than it could use, what one leaves is there for the others, and everybody who wants a line gets
 * one before anybody gets a second. Where there are fewer lines than that the heavier get them, and equals take turns. Beyond that no line
 * could be moved to one who is worse off for its weight (weighted max-min). The order of the demands does not matter.
 */
export function fairShares(limit: number, demands: readonly Demand[]): Map<string, number> {
  const wanting = demands.filter(({ lines }) => lines > 0).toSorted(byWeight);
  const shares = new Map(demands.map(({ id }) => [id, 0]));
  if (wanting.length >= limit) {
    for (const { id } of wanting.toSorted(byTurn).slice(0, Math.max(0, limit))) shares.set(id, 1);
    return shares;
  }
  const level = highestLevel(limit, wanting);
  let left = limit;
  for (const demand of wanting) {
    const lines = linesAt(level, demand);
    shares.set(demand.id, lines);
    left -= lines;
  }
  // Whole lines that the level does not divide go one by one to whoever is then worst off.
  for (; left > 0; left -= 1) {
    const next = wanting
      .filter(({ id, lines }) => (shares.get(id) ?? 0) < lines)
      .map((demand) => ({ demand, lines: (shares.get(demand.id) ?? 0) + 1 }))
      // Lines per weight, without fractions: equals are equal.
      .toSorted((a, b) => a.lines * b.demand.weight - b.lines * a.demand.weight || byWeight(a.demand, b.demand))[0];
    if (next === undefined) break;
    shares.set(next.demand.id, next.lines);
  }
  return shares;
}

function byTurn(a: Demand, b: Demand): number {
  return b.weight - a.weight || a.tookAt - b.tookAt || byWeight(a, b);
}

function byWeight(a: Demand, b: Demand): number {
  return b.weight - a.weight || (a.id < b.id ? -1 : 1);
}

function linesAt(level: number, { weight, lines }: Demand): number {
  return Math.min(lines, Math.max(1, Math.floor(level * weight)));
}

/** Below any difference between two fractions of whole lines and whole weights up to 100. */
const hair = 1e-7;

/** Lines per weight that can be given to all. A hair too low, so that no rounding decides between lines that are equal there. */
function highestLevel(limit: number, demands: readonly Demand[]): number {
  let low = 0;
  let high = Math.max(0, ...demands.map(({ weight, lines }) => lines / weight));
  for (let look = 0; look < 64; look += 1) {
    const level = (low + high) / 2;
    const given = demands.reduce((sum, demand) => sum + linesAt(level, demand), 0);
    if (given <= limit) low = level;
    else high = level;
  }
  return low - hair;
}
