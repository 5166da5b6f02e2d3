import { z } from 'zod';
import type { Random } from '../core/random.ts';

const longestMs = 3_600_000;
const ms = z.number().min(0).max(longestMs);

/** Real milliseconds: a number, or a distribution to draw from. */
export const latency = z.union(
  [
    z.number().int().min(1).max(longestMs),
    z
      .strictObject({ distribution: z.literal('uniform'), from: ms, to: ms })
      .refine(({ from, to }) => from <= to, 'from must not be above to.'),
    z.strictObject({ distribution: z.literal('normal'), mean: ms, deviation: ms }),
    z.strictObject({
      distribution: z.literal('log_normal'),
      mean: ms,
      sigma: z.number().min(0).max(5),
    }),
  ],
  {
    error:
      'Must be whole milliseconds from 1 to 3600000, or {"distribution": "uniform", "from", "to"}, {"distribution": "normal", "mean", "deviation"} or {"distribution": "log_normal", "mean", "sigma"}.',
  },
);
export type Latency = z.output<typeof latency>;

/** Whole real milliseconds, never below 0 nor above an hour. */
export function drawLatency(of: Latency, random: Random): number {
  if (typeof of === 'number') return of;
  return Math.round(Math.min(longestMs, Math.max(0, draw(of, random))));
}

function draw(of: Exclude<Latency, number>, random: Random): number {
  switch (of.distribution) {
    case 'uniform':
      return random.between(of.from, of.to);
    case 'normal':
      return of.mean + of.deviation * random.normal();
    case 'log_normal':
      return of.mean === 0 ? 0 : random.logNormal(of.mean, of.sigma);
  }
}
