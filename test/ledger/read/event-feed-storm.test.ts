import { expect, test } from 'vitest';
import { sql } from 'kysely';
import type { EventType } from '../../../src/rules/events.ts';
import { appendEvents } from '../../../src/ledger/events.ts';
import type { Store } from '../../../src/ledger/open-ledger.ts';
import { EventFeed } from '../../../src/ledger/read/event-feed.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { bothDialects, emptyDatabase, openAt } from '../test-stores.ts';

const campaigns = ['spring', 'summer'] as const;
const types = ['round.started', 'round.ended'] as const;
const writers = 8;
const transactionsEach = 15;

class CalledOff extends Error {}

/** Transactions one after the other: each takes numbers of the log in several goes, does other things meanwhile, and may be given up. */
async function write(store: Store, random: Random): Promise<void> {
  for (let nth = 0; nth < transactionsEach; nth += 1) {
    const work = store.transaction(async (tx) => {
      for (let goes = Math.floor(random.between(1, 5)); goes > 0; goes -= 1) {
        const events = Array.from({ length: Math.floor(random.between(1, 4)) }, () => {
          return { at: 0, campaignId: random.pick(campaigns), type: random.pick(types), data: { round: 1 } };
        });
        await appendEvents(tx, events);
        for (let steps = Math.floor(random.between(0, 12)); steps > 0; steps -= 1) await sql`select 1`.execute(tx);
      }
      if (random.chance(0.35)) throw new CalledOff();
    });
    await work.catch((error: unknown) => {
      if (!(error instanceof CalledOff)) throw error;
    });
  }
}

interface Wanted {
  campaignId: string | null;
  types: readonly EventType[] | null;
  limit: number;
}

/** Reads on until nobody writes any more and the cursor stands at the end of the log. Answers the numbers that were read, page by page. */
async function follow(store: Store, wanted: Wanted, isOver: () => boolean): Promise<number[][]> {
  const feed = new EventFeed(store);
  const pages: number[][] = [];
  let cursor = 0;
  for (;;) {
    // Before the page: what is committed after it is for the next one.
    const over = isOver();
    const page = await feed.read({ ...wanted, afterSeq: cursor });
    const seqs = page.events.map(({ seq }) => seq);
    for (const [index, seq] of seqs.entries()) expect(seq).toBeGreaterThan(seqs[index - 1] ?? cursor);
    expect(page.cursor).toBeGreaterThanOrEqual(seqs.at(-1) ?? cursor);
    if (seqs.length > 0) pages.push(seqs);
    ({ cursor } = page);
    if (!over) continue;
    const { last } = await store.db
      .selectFrom('events')
      .select((eb) => eb.fn.max('seq').as('last'))
      .executeTakeFirstOrThrow();
    if (cursor >= (last ?? 0)) return pages;
  }
}

test.skipIf(!bothDialects.includes('postgres')).for([1, 2, 3])(
  'whoever follows the log while many write, at length and in vain, sees each committed line once and in order: seed %i',
  { timeout: 120_000 },
  async (seed) => {
    const location = await emptyDatabase('postgres');
    const store = await openAt(location);
    const others = [await openAt(location), await openAt(location)];
    const wants: Wanted[] = [
      { campaignId: null, types: null, limit: 3 },
      { campaignId: null, types: null, limit: 1000 },
      { campaignId: 'spring', types: null, limit: 5 },
      { campaignId: 'summer', types: ['round.ended'], limit: 2 },
    ];
    let over = false;
    const following = wants.map((wanted) => follow(store, wanted, () => over));
    await Promise.all(
      Array.from({ length: writers }, (_, nth) => write(others[nth % others.length] ?? store, new Random('storm', seed, nth))),
    );
    over = true;
    const seen = await Promise.all(following);
    const committed = await store.db.selectFrom('events').select(['seq', 'campaign_id', 'type']).orderBy('seq').execute();
    for (const [index, { campaignId, types: kinds, limit }] of wants.entries()) {
      const theirs = committed.filter(
        (row) => (campaignId === null || row.campaign_id === campaignId) && (kinds === null || kinds.some((type) => type === row.type)),
      );
      const pages = seen[index] ?? [];
      expect(pages.flat()).toEqual(theirs.map(({ seq }) => seq));
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
    }
    // It was a storm: numbers are missing for good, and the followers were at it while it lasted.
    expect((committed.at(-1)?.seq ?? 0) - committed.length).toBeGreaterThan(50);
    expect(seen[1]?.length).toBeGreaterThan(10);
  },
);
