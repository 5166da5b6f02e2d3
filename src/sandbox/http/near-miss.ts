export interface KnownRoute {
  method: string;
  path: string;
}

const longestPath = 200;
const otherMethodCost = 3;
const otherPartCost = 4;
/** A little less than leaving the part out. */
const parameterCost = 3;

/** The route that was most likely meant, as `POST /v1/…`; null when none is near. */
export function nearestRoute(method: string, pathname: string, routes: readonly KnownRoute[]): string | null {
  if (pathname.length > longestPath) return null;
  const asked = pathname.split('/').filter((part) => part !== '');
  let nearest: KnownRoute | null = null;
  // Few letters have nothing in common with anything.
  let least = Math.min(asked.join('').length, Math.max(5, pathname.length / 3));
  for (const route of routes) {
    const cost = pathCost(asked, route.path) + (route.method === method ? 0 : otherMethodCost);
    if (cost >= least) continue;
    least = cost;
    nearest = route;
  }
  return nearest === null ? null : `${nearest.method} ${nearest.path.replaceAll(/:(\w+)/g, '{$1}')}`;
}

function pathCost(asked: readonly string[], known: string): number {
  const parts = known.split('/').filter((part) => part !== '');
  return cheapest(asked, parts, {
    drop: () => otherPartCost,
    swap: (from, to) => (to.startsWith(':') ? parameterCost : letterCost(from, to)),
  });
}

function letterCost(from: string, to: string): number {
  if (from === to) return 0;
  return cheapest(from.toLowerCase(), to.toLowerCase(), { drop: () => 1, swap: (a, b) => (a === b ? 0 : 1) });
}

function cheapest(
  from: ArrayLike<string>,
  to: ArrayLike<string>,
  cost: { drop: (item: string) => number; swap: (from: string, to: string) => number },
): number {
  let row = [0];
  for (let column = 0; column < to.length; column += 1) row.push((row[column] ?? 0) + cost.drop(to[column] ?? ''));
  for (let index = 0; index < from.length; index += 1) {
    const item = from[index] ?? '';
    const next = [(row[0] ?? 0) + cost.drop(item)];
    for (let column = 0; column < to.length; column += 1) {
      const other = to[column] ?? '';
      next.push(
        Math.min(
          (row[column] ?? 0) + cost.swap(item, other),
          (row[column + 1] ?? 0) + cost.drop(item),
          (next[column] ?? 0) + cost.drop(other),
        ),
      );
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
