/** Minimum step between instants of a simulation. */
const finestGrainMs = 5_000;
const coarsestGrainMs = 30_000;

/** Simulation step for calls of these lengths. */
export function grainOf(answeredMs: number, unansweredMs: number): number {
  return Math.min(coarsestGrainMs, Math.max(finestGrainMs, commonDivisor(answeredMs, unansweredMs)));
}

function commonDivisor(left: number, right: number): number {
  return right < 1 ? left : commonDivisor(right, left % right);
}
