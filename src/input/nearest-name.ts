/** The known name that `name` was most likely meant to be, or null when none is near enough to suggest. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = fold(name);
  let nearest: string | null = null;
  let nearestDistance = (wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3))) + 1;
  for (const candidate of known) {
    if (candidate === '') continue;
    const distance = editDistance(wanted, fold(candidate), nearestDistance);
    if (distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Case, spaces and separators are what people get wrong most: they cost nothing. */
function fold(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[\s_.-]+/g, '');
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? limit;
}
