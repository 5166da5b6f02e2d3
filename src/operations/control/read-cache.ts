import { setImmediate } from 'node:timers/promises';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Aside, works } from './aside/works.ts';

/** A reading is reused for this many times as long as it took: at most a twentieth of a processor for all open pages. */
const restFactor = 20;
const leastAgeMs = 400;
const mostAgeMs = 60_000;
/** What takes longer is given out once more, and read anew when whoever asked has been answered. */
const slowMs = 80;
const mostKept = 500;
/** Whatever walks through more rows than this is not waited for. */
const manyRows = 20_000;

interface Kept {
  value: Promise<unknown>;
  /** When it was there, and how long it took; null while it is being read. */
  done: { at: number; tookMs: number } | null;
  renewing: boolean;
  /** The reading before it, once it was there: better than nothing while this one takes long. */
  before: { value: Promise<unknown>; at: number } | null;
}

/** Shares costly readings among all requests. A figure is at most 20 times as old as it took to read. */
export class ReadCache {
  readonly #kept = new Map<string, Kept>();
  /** What nobody has begun to read yet. */
  readonly #later = new Map<string, () => Promise<unknown>>();
  readonly #now: () => number;

  /** `now`: milliseconds of any clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** `key` names what is read and all that it depends on. A reading that failed is not kept. `oldestMs`: none older is given out. */
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
   * `read`, waited for no longer than `withinMs`; then the reading before it is given out, for a minute. Null: there is none, it is still
   * being read, and is there for a later look. With 0 it begins only with `beginLater`: SQLite keeps the whole process busy while it reads.
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

  /** Begins, one after the other, what was to wait until somebody has been answered. */
  async beginLater(): Promise<void> {
    const begun = [...this.#later.values()];
    this.#later.clear();
    for (const begin of begun) {
      await begin().catch(() => {});
      // Whatever else has come meanwhile has its turn.
      await setImmediate();
    }
  }

  #start<Value>(key: string, make: () => Promise<Value>): Promise<Value> {
    const begun = this.#now();
    const value = make();
    const last = this.#kept.get(key);
    const before = last?.done == null ? (last?.before ?? null) : { value: last.value, at: last.done.at };
    const kept: Kept = { value, done: null, renewing: false, before };
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

  #keep(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** What is known of a campaign in parts, and how long a face waits for each where the campaign has few rows. */
const withinMs = { forecast: 60, waiting: 60, hours: 60, course: 60, talk: 60, lastChange: 100, report: 200 } as const;

type Part = keyof typeof withinMs;
type Found<Name extends Part> = Awaited<ReturnType<(typeof works)[Name]>>;

/** Parts of what is known of a campaign, each read once for all who ask at a time. A part that is left out is still being read. */
export async function readCampaignParts<Name extends Part>(
  { aside, cache }: { aside: Aside; cache: ReadCache },
  names: readonly Name[],
  { campaign, now }: { campaign: Campaign; now: number },
): Promise<{ [Each in Name]?: Found<Each> }> {
  const reader = aside as { read: (name: Part, ...told: unknown[]) => Promise<unknown> };
  const parts: { [Each in Name]?: unknown } = {};
  // One after the other: they have one thread between them, and a short wait each.
  for (const name of names) {
    const make = async () => ({ found: await reader.read(name, campaign, now) });
    const kept = await cache.readWithin(campaign.rowsTotal > manyRows ? 0 : withinMs[name], `${name} ${campaign.campaignId}`, make);
    if (kept !== null) parts[name] = kept.found;
  }
  return parts as { [Each in Name]?: Found<Each> };
}
