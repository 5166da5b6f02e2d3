import { isIPv6 } from 'node:net';

/** So many failures at once, and one more each time that so much has passed. */
const ofOne = { most: 10, everyMs: 30_000 };
const ofAll = { most: 100, everyMs: 1_000 };
/** Of the others the oldest is forgotten: they share what all may do. */
const mostAddresses = 10_000;

interface Failures {
  count: number;
  /** When the count was right. */
  at: number;
}

/** Slows down those who try tokens, each address by itself and all together. Of one process; it grows to a few MB at most. */
export class SignInLimit {
  readonly #ofAll: Failures = { count: 0, at: 0 };
  readonly #byAddress = new Map<string, Failures>();

  /**
   * Whether this address may try a token: 0, or in how many milliseconds it may. What is let through counts as a failure until
   * `succeeded` says otherwise, so that many at once are no way around it. `now`: real time.
   */
  begin(address: string, now: number): number {
    const own = this.#failuresOf(networkOf(address));
    const waitMs = Math.max(waitOf(own, ofOne, now), waitOf(this.#ofAll, ofAll, now));
    if (waitMs > 0) return waitMs;
    own.count += 1;
    this.#ofAll.count += 1;
    return 0;
  }

  succeeded(address: string): void {
    for (const failures of [this.#failuresOf(networkOf(address)), this.#ofAll]) failures.count = Math.max(0, failures.count - 1);
  }

  #failuresOf(network: string): Failures {
    const failures = this.#byAddress.get(network) ?? { count: 0, at: 0 };
    this.#byAddress.delete(network);
    this.#byAddress.set(network, failures);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > mostAddresses && oldest !== undefined) this.#byAddress.delete(oldest);
    return failures;
  }
}

function waitOf(failures: Failures, { most, everyMs }: typeof ofOne, now: number): number {
  // A clock that was set back takes nothing away, and lets nobody wait for it.
  const passedMs = Math.max(0, now - failures.at);
  failures.count = Math.max(0, failures.count - passedMs / everyMs);
  failures.at = now;
  return failures.count <= most - 1 ? 0 : Math.ceil((failures.count - (most - 1)) * everyMs);
}

/** Whoever has one address of IPv6 has all of its /64. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== '')) as [string[], string[]];
  const between = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...between, ...last].slice(0, 4).join(':');
}
