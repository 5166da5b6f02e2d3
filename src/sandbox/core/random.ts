import { createHash } from 'node:crypto';

type KeyPart = string | number;

/** Draws depend only on the key, so the order of calls changes none. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(...key: KeyPart[]) {
    const digest = hashKey(key);
    this.#a = digest.readUInt32LE(0);
    this.#b = digest.readUInt32LE(4);
    this.#c = digest.readUInt32LE(8);
    this.#counter = digest.readUInt32LE(12) | 1;
  }

  /** Uniform in [0, 1) (sfc32). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.next() * values.length)] ?? values[0];
  }

  /** Mean 0, deviation 1 (Box–Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** Log-normal with the given mean; `sigma` is the deviation of the logarithm. */
  logNormal(mean: number, sigma: number): number {
    return Math.exp(Math.log(mean) - (sigma * sigma) / 2 + sigma * this.normal());
  }
}

export function deriveId(prefix: string, ...key: KeyPart[]): string {
  return `${prefix}_${hashKey([prefix, ...key])
    .toString('hex')
    .slice(0, 26)}`;
}

function hashKey(key: KeyPart[]): Buffer {
  return createHash('sha256').update(JSON.stringify(key)).digest();
}
