/** No two instants of a simulation are closer together than this, or than the shortest call where that is shorter. */
const finestGrainMs = 5_000;
const coarsestGrainMs = 30_000;

/** The step between the instants of a simulation in which calls last this long. */
export function grainOf(answeredMs: number, unansweredMs: number): number {
  return Math.min(coarsestGrainMs, Math.max(finestGrainMs, commonDivisor(answeredMs, unansweredMs)));
}

function commonDivisor(left: number, right: number): number {
  return right < 1 ? left : commonDivisor(right, left % right);
}
