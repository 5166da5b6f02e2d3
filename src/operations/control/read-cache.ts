import { setImmediate } from 'node:timers/promises';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Background, works } from './aside/works.ts';

/** Reuses a read for this many times its duration: at most a twentieth of a processor for all open pages. */
const restFactor = 20;
const leastAgeMs = 400;
const mostAgeMs = 60_000;
/** Slower reads are served stale once more, then refreshed. */
const slowMs = 80;
const mostKept = 500;
/** Views of larger campaigns are not waited for. */
const manyRows = 20_000;

interface CachedRead {
  value: Promise<unknown>;
  /** Null while the read runs. */
  done: { at: number; tookMs: number } | null;
  renewing: boolean;
  /** The previous read, served while this one takes long. */
  before: { value: Promise<unknown>; at: number } | null;
}

/** Shares costly reads. A figure is at most 20 times as old as its read took. */
export class ReadCache {
  readonly #kept = new Map<string, CachedRead>();
  /** Reads not yet begun. */
  readonly #later = new Map<string, () => Promise<unknown>>();
  readonly #now: () => number;

  /** Monotonic ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** `key` must name all that the read depends on. Failures are not cached. `oldestMs`: maximum age. */
  async read<Value>(key: string, make: () => Promise<Value>, oldestMs = mostAgeMs): Promise<Value> {
    const kept = this.#kept.get(key);
    if (kept === undefined) return this.#start(key, make);
    if (kept.done === null) return kept.value as Promise<Value>;
    const { at, tookMs } = kept.done;
    const ageMs = this.#now() - at;
    if (ageMs < Math.min(oldestMs, Math.max(leastAgeMs, tookMs * restFactor))) return kept.value as Promise<Value>;
    if (tookMs < slowMs || ageMs > 10 * mostAgeMs || oldestMs < mostAgeMs) return this.#start(key, make);
    if (!kept.renewing) {
      kept.renewing = true;
      this.#later.set(`${key} `, () =>
        this.#start(`${key} `, make).then(
          () => {
            const renewed = this.#kept.get(`${key} `);
            this.#kept.delete(`${key} `);
            if (renewed !== undefined) this.#keep(key, renewed);
          },
          () => {
            kept.renewing = false;
          },
        ),
      );
    }
    return kept.value as Promise<Value>;
  }

  /**
   * Waits at most `withinMs`, then answers the previous read if under a minute old, else null while the read continues. With 0 it begins
   * only with `beginLater`, since SQLite blocks the process.
   */
  async readWithin<Value>(withinMs: number, key: string, make: () => Promise<Value>, oldestMs?: number): Promise<Value | null> {
    if (withinMs === 0 && !this.#kept.has(key)) {
      this.#later.set(key, () => this.read(key, make, oldestMs));
      return null;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Value | null>((resolve) => {
      timer = setTimeout(() => {
        const before = this.#kept.get(key)?.before ?? null;
        resolve(before !== null && this.#now() - before.at < mostAgeMs ? (before.value as Promise<Value>) : null);
      }, withinMs);
    });
    return Promise.race([this.read(key, make, oldestMs), late]).finally(() => clearTimeout(timer));
  }

  /** Begins deferred reads, one after the other. */
  async beginLater(): Promise<void> {
    const begun = [...this.#later.values()];
    this.#later.clear();
    for (const begin of begun) {
      await begin().catch(() => {});
      // Lets other pending requests run first.
      await setImmediate();
    }
  }

  #start<Value>(key: string, make: () => Promise<Value>): Promise<Value> {
    const begun = this.#now();
    const value = make();
    const last = this.#kept.get(key);
    const before = last?.done == null ? (last?.before ?? null) : { value: last.value, at: last.done.at };
    const kept: CachedRead = { value, done: null, renewing: false, before };
    this.#keep(key, kept);
    value.then(
      () => {
        const at = this.#now();
        kept.done = { at, tookMs: at - begun };
      },
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key);
      },
    );
    return value;
  }

  #keep(key: string, kept: CachedRead): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** Maximum wait of a page for each part, for a campaign with few rows. */
const withinMs = { forecast: 60, waiting: 60, hours: 60, course: 60, talk: 60, lastChange: 100, report: 200 } as const;

type Part = keyof typeof withinMs;
type PartValue<Name extends Part> = Awaited<ReturnType<(typeof works)[Name]>>;

/** Parts of a campaign's view, each read once for concurrent callers. A missing part is still being read. */
export async function readCampaignParts<Name extends Part>(
  { aside, cache }: { aside: Background; cache: ReadCache },
  names: readonly Name[],
  { campaign, now }: { campaign: Campaign; now: number },
): Promise<{ [Each in Name]?: PartValue<Each> }> {
  const reader = aside as { read: (name: Part, ...args: unknown[]) => Promise<unknown> };
  const parts: { [Each in Name]?: unknown } = {};
  // They share one thread, and each wait is short.
  for (const name of names) {
    const make = async () => ({ found: await reader.read(name, campaign, now) });
    const kept = await cache.readWithin(campaign.rowsTotal > manyRows ? 0 : withinMs[name], `${name} ${campaign.campaignId}`, make);
    if (kept !== null) parts[name] = kept.found;
  }
  return parts as { [Each in Name]?: PartValue<Each> };
}
