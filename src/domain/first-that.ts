/** The first whole number for which `holds`, by halving what is between: it does not hold at `before`, and from `after` on it does. */
export function firstThat(holds: (value: number) => boolean, before: number, after: number): number {
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
