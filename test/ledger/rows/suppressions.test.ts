import { expect } from 'vitest';
import type { EventData } from '../../../src/rules/events.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import {
  addSuppressions,
  findEntries,
  findSuppressed,
  listSuppressions,
  removeSuppressions,
  type Suppression,
} from '../../../src/ledger/rows/suppressions.ts';
import { noon, numbers } from '../scenario.ts';
import { test, openLedger } from '../ledger-test.ts';

const day = 86_400_000;
const [first = '', second = '', third = ''] = numbers(3);

function entry(e164: string, changes: Partial<Suppression> = {}): Suppression {
  return { e164, scope: 'account', source: 'person', reason: null, expiresAt: null, ...changes };
}

test.both.from(openLedger)('an entry is never shortened, and one that was over is made anew', async (store) => {
  const add = (changes: Partial<Suppression>, now = noon) => addSuppressions(store, [entry(first, changes)], now);
  const isSuppressed = async (at: number) =>
    (await findSuppressed(store.db, { campaignId: 'spring', purpose: undefined, now: at }, [first])).size === 1;
  expect(await add({ expiresAt: noon + day, reason: 'a pause' })).toBe(1);
  expect(await add({ expiresAt: noon + day / 2 })).toBe(0);
  expect([await isSuppressed(noon + day - 1), await isSuppressed(noon + day)]).toEqual([true, false]);
  // Over: whoever opts out later is on the list again, for ever.
  expect(await add({ reason: 'opted out', source: 'call:1' }, noon + 2 * day)).toBe(1);
  expect(await isSuppressed(noon + 100 * day)).toBe(true);
  expect(await add({ expiresAt: noon + 3 * day, reason: 'another pause' }, noon + 2 * day)).toBe(0);
  expect(await findEntries(store.db, [first])).toEqual([
    { ...entry(first, { reason: 'opted out', source: 'call:1' }), createdAt: noon + 2 * day },
  ]);
});

test.from(openLedger)('entries of a campaign stop that one, and every change stands in the log', async (store) => {
  const entries = [entry(first), entry(second, { scope: 'spring' }), entry(third, { scope: 'autumn' })];
  expect(await addSuppressions(store, entries, noon)).toBe(3);
  expect(await addSuppressions(store, entries, noon)).toBe(0);
  const suppressed = async () =>
    [...(await findSuppressed(store.db, { campaignId: 'spring', purpose: undefined, now: noon }, [first, second, third])).keys()].sort();
  expect(await suppressed()).toEqual([first, second]);
  expect(await removeSuppressions(store, { scope: 'account', now: noon }, [first, second])).toBe(1);
  expect(await suppressed()).toEqual([second]);
  const log = await readEvents(store.db, 'account');
  expect(log.map(({ type, data }) => [type, (data as EventData['suppression.added']).e164])).toEqual([
    ['suppression.added', first],
    ['suppression.removed', first],
  ]);
  expect(await readEvents(store.db, 'spring')).toHaveLength(1);
});

test.from(openLedger)('the list is read in pages that lose and repeat nothing', async (store) => {
  const all = numbers(5).flatMap((e164) => [entry(e164), entry(e164, { scope: 'spring' })]);
  await addSuppressions(store, all, noon);
  const read: string[] = [];
  for (let after: { e164: string; scope: string } | null = null; ;) {
    const page = await listSuppressions(store.db, { scope: null, after, limit: 3 });
    read.push(...page.map(({ e164, scope }) => `${e164} ${scope}`));
    const last = page.at(-1);
    if (last === undefined || page.length < 3) break;
    after = last;
  }
  expect(read).toEqual(all.map(({ e164, scope }) => `${e164} ${scope}`).sort());
  expect(await listSuppressions(store.db, { scope: 'spring', after: null, limit: 100 })).toHaveLength(5);
});
