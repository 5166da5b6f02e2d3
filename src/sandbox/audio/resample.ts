import type { Sound } from '../core/audio-format.ts';

/** Zero crossings of the low-pass on either side; more is sharper and slower. */
const crossings = 12;

const tables = new Map<string, Float64Array[]>();

/** The same sound at another rate, through a windowed-sinc low-pass, so that nothing folds back into what is heard. */
export function resample({ samples, rate }: Sound, to: number): Int16Array {
  if (rate === to) return samples;
  const divisor = greatestCommonDivisor(rate, to);
  const up = to / divisor;
  const down = rate / divisor;
  const phases = phaseTable(up, down);
  const reach = reachOf(up, down);
  const result = new Int16Array(Math.floor((samples.length * up) / down));
  for (let index = 0; index < result.length; index += 1) {
    const position = index * down;
    const centre = Math.floor(position / up);
    const weights = phases[position % up] ?? new Float64Array();
    let sum = 0;
    for (let tap = 0; tap < weights.length; tap += 1) {
      sum += (samples[centre - reach + tap] ?? 0) * (weights[tap] ?? 0);
    }
    result[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return result;
}

/** Input samples on either side that one output sample depends on. */
function reachOf(up: number, down: number): number {
  return Math.ceil(crossings * Math.max(1, down / up));
}

function phaseTable(up: number, down: number): Float64Array[] {
  const key = `${up}/${down}`;
  const known = tables.get(key);
  if (known !== undefined) return known;
  const cutoff = Math.min(1, up / down);
  const reach = reachOf(up, down);
  const table = Array.from({ length: up }, (_, phase) => {
    const weights = Float64Array.from({ length: 2 * reach + 1 }, (__, tap) => {
      const distance = tap - reach - phase / up;
      const window = Math.abs(distance) > reach ? 0 : 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach);
      return cutoff * sinc(cutoff * distance) * window;
    });
    // Equal weight in every phase: silence stays silent and a steady tone keeps its loudness.
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  });
  tables.set(key, table);
  return table;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right);
}
