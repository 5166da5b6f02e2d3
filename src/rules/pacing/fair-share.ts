/** One campaign's demand for shared lines. */
export interface Demand {
  id: string;
  /** Above 0. If two campaigns want more, twice the weight gets twice the lines. */
  weight: number;
  /** Lines that it could use now. */
  lines: number;
  /** When it last took lines; 0 before the first. */
  tookAt: number;
}

/**
 * Shares out lines by weighted max-min, one line for each demand first. With too few lines the heavier go first and equals take turns.
 * Input order does not matter.
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
  // Remaining whole lines go one by one to the demand that is worst off.
  for (; left > 0; left -= 1) {
    const next = wanting
      .filter(({ id, lines }) => (shares.get(id) ?? 0) < lines)
      .map((demand) => ({ demand, lines: (shares.get(demand.id) ?? 0) + 1 }))
      // Compares lines per weight without fractions, so that equals are equal.
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

/** Below any difference of two fractions of whole lines and weights up to 100. */
const hair = 1e-7;

/** Most lines per weight that fit, a hair too low, so that rounding does not decide between equals. */
function highestLevel(limit: number, demands: readonly Demand[]): number {
  let low = 0;
  let high = Math.max(0, ...demands.map(({ weight, lines }) => lines / weight));
  for (let step = 0; step < 64; step += 1) {
    const level = (low + high) / 2;
    const given = demands.reduce((sum, demand) => sum + linesAt(level, demand), 0);
    if (given <= limit) low = level;
    else high = level;
  }
  return low - hair;
}
