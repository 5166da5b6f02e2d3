import { expect, test, vi } from 'vitest';
import { appendEvents } from '../../../src/ledger/events.ts';
import { EventFeed } from '../../../src/ledger/read/event-feed.ts';
import { emptyDatabase, dialects, openAt } from '../test-stores.ts';

const event = (round: number, campaignId = 'spring') =>
  ({ at: round, campaignId, type: 'round.started', data: { round } }) as const;

test.for(dialects)('a feed goes on from its cursor, over what was not wanted too: %s', async (dialect) => {
  const store = await openAt(await emptyDatabase(dialect));
  await store.transaction((tx) => appendEvents(tx, [event(1), event(2, 'summer'), event(3)]));
  const feed = new EventFeed(store);
  const spring = { campaignId: 'spring', limit: 10 };
  const first = await feed.read({ ...spring, afterSeq: 0 });
  expect(first.events.map(({ at }) => at)).toEqual([1, 3]);
  expect(await feed.read({ ...spring, afterSeq: first.cursor })).toEqual({ events: [], cursor: first.cursor });
  const page = await feed.read({ campaignId: null, afterSeq: 0, limit: 2 });
  expect(page.events.map(({ at }) => at)).toEqual([1, 2]);
  expect((await feed.read({ campaignId: null, afterSeq: page.cursor, limit: 2 })).events.map(({ at }) => at)).toEqual([
    3,
  ]);
  const none = await feed.read({ campaignId: null, afterSeq: 0, limit: 2, types: ['round.ended'] });
  expect(none).toEqual({ events: [], cursor: first.cursor });
});

test.skipIf(!dialects.includes('postgres'))(
  'a line that is committed late is not missed, and one that never is does not hold up the others',
  async () => {
    const location = await emptyDatabase('postgres');
    const store = await openAt(location);
    const other = await openAt(location);
    const feed = new EventFeed(store);
    const seen: number[] = [];
    let cursor = 0;
    const read = async () => {
      const page = await feed.read({ campaignId: null, afterSeq: cursor, limit: 10 });
      seen.push(...page.events.map(({ at }) => at));
      ({ cursor } = page);
    };
    let commit = (): void => {};
    const held = new Promise<void>((resolve) => (commit = resolve));
    let taken = (): void => {};
    const isTaken = new Promise<void>((resolve) => (taken = resolve));
    const late = other.transaction(async (tx) => {
      await appendEvents(tx, [event(1)]);
      taken();
      await held;
    });
    await isTaken;
    await store.transaction((tx) => appendEvents(tx, [event(2)]));
    for (let looks = 0; looks < 5; looks += 1) await read();
    expect(seen).toEqual([]);
    commit();
    await late;
    await vi.waitFor(async () => {
      await read();
      expect(seen).toEqual([1, 2]);
    });
    const failed = store.transaction(async (tx) => {
      await appendEvents(tx, [event(3)]);
      throw new Error('called off');
    });
    await expect(failed).rejects.toThrow('called off');
    await store.transaction((tx) => appendEvents(tx, [event(4)]));
    await vi.waitFor(async () => {
      await read();
      expect(seen).toEqual([1, 2, 4]);
    });
  },
);
