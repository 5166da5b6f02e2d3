import { expect } from 'vitest';
import { CampaignConflictError, importCampaign } from '../../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { importSuppressions } from '../../../src/ledger/people/suppression-import.ts';
import { findCampaign, listCampaigns } from '../../../src/ledger/rows/campaigns.ts';
import { findEntries, type Suppression } from '../../../src/ledger/rows/suppressions.ts';
import { buildRules } from '../../support/campaign-rules.ts';
import { noon, numbers, guests } from '../scenario.ts';
import { emptyDatabase, openAt } from '../test-stores.ts';
import type { ImportRow } from '../../../src/ledger/campaign/row-hash.ts';
import { test, openLedger } from '../ledger-test.ts';

const rows = guests(3);
const spring = { campaignId: 'spring', name: null, fileHash: 'hash', rules: buildRules(), accountId: 'http://service' };

async function* of(...chunks: ImportRow[][]): AsyncGenerator<ImportRow[]> {
  yield* chunks;
}

test.from(emptyDatabase)('a campaign is nowhere to be seen before its last row is in', async (location) => {
  const store = await openAt(location);
  const onlooker = await openAt(location);
  const seen: unknown[] = [];
  async function* slowly(): AsyncGenerator<ImportRow[]> {
    for (let part = 0; part < 3; part += 1) {
      // More than one commit: each part fills one.
      yield Array.from({ length: 10_000 }, (_, index) => ({
        ...(rows[0] as ImportRow),
        row: part * 10_000 + index + 1,
      }));
      seen.push(await findCampaign(onlooker.db, 'spring'), (await listCampaigns(onlooker.db)).length);
      seen.push(await openRound(onlooker, 'spring', noon));
    }
  }
  const { campaign, attached } = await importCampaign(store, spring, { chunks: slowly(), now: noon });
  expect(seen).toEqual([undefined, 0, undefined, undefined, 0, undefined, undefined, 0, undefined]);
  expect(attached).toBe(false);
  expect(await findCampaign(onlooker.db, 'spring')).toMatchObject({
    state: 'draft',
    rowsTotal: 30_000,
    rowsRejected: 0,
  });
  expect(campaign).toMatchObject({ rules: spring.rules, fileHash: 'hash', round: 0 });
});

test.both.from(openLedger)('an import that a crash left behind is replaced, rows and all', async (store) => {
  async function* breaking(): AsyncGenerator<ImportRow[]> {
    yield Array.from({ length: 10_000 }, (_, index) => ({ ...(rows[0] as ImportRow), row: index + 1 }));
    throw new Error('the file went away');
  }
  await expect(importCampaign(store, spring, { chunks: breaking(), now: noon })).rejects.toThrow('the file went away');
  expect(await findCampaign(store.db, 'spring')).toBeUndefined();
  await importCampaign(store, { ...spring, fileHash: 'other' }, { chunks: of(rows), now: noon });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ fileHash: 'other', rowsTotal: 3 });
  const kept = await store.db.selectFrom('recipients').select('recipient_id').orderBy('recipient_id').execute();
  expect(kept.map((row) => row.recipient_id)).toEqual(['spring/1', 'spring/2', 'spring/3']);
});

test.from(openLedger)('the same id and hash attaches and reads no row', async (store) => {
  await importCampaign(store, spring, { chunks: of(rows), now: noon });
  async function* untouched(): AsyncGenerator<ImportRow[]> {
    yield [];
    throw new Error('the list was read');
  }
  const { attached, campaign } = await importCampaign(store, spring, { chunks: untouched(), now: noon + 1 });
  expect(attached).toBe(true);
  expect(campaign).toMatchObject({ rowsTotal: 3, createdAt: noon });
});

test.from(openLedger)('the same id with another hash is refused and changes nothing', async (store) => {
  await importCampaign(store, spring, { chunks: of(rows), now: noon });
  const changed = {
    ...spring,
    fileHash: 'changed',
    rules: buildRules({ callers: { numbers: ['pn_second'], choice: 'region' } }),
  };
  await expect(importCampaign(store, changed, { chunks: of(rows), now: noon })).rejects.toThrow(CampaignConflictError);
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ fileHash: 'hash', rules: spring.rules });
});

test.both('of two imports of one id at the same time, one stands whole', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const store = await openAt(location);
  // Two stores on one SQLite file in one thread would block each other; its own queue makes them take turns.
  const other = dialect === 'postgres' ? await openAt(location) : store;
  const results = await Promise.allSettled(
    [store, other, store].map((from) => importCampaign(from, spring, { chunks: of(rows), now: noon })),
  );
  expect(results.some((result) => result.status === 'fulfilled')).toBe(true);
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'draft', rowsTotal: 3 });
  expect(await store.db.selectFrom('recipients').select('recipient_id').execute()).toHaveLength(3);
});

test.from(openLedger)('rejected rows are counted and have their outcome at once', async (store) => {
  const bad: ImportRow = { ...(rows[1] as ImportRow), verdict: 'rejected', e164: null, reason: 'invalid_phone' };
  await importCampaign(store, spring, { chunks: of([rows[0] as ImportRow, bad]), now: noon });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ rowsTotal: 2, rowsRejected: 1 });
  const stored = await store.db.selectFrom('recipients').selectAll().where('row_number', '=', 2).execute();
  expect(stored).toMatchObject([{ state: 'done', outcome: 'rejected', reason: 'invalid_phone' }]);
});

const [first = '', second = '', third = ''] = numbers(3);
const minuteMs = 60_000;
const dayMs = 86_400_000;
const never: Omit<Suppression, 'e164'> = { scope: 'account', source: 'import:a.csv', reason: null, expiresAt: null };
const clock = { now: noon, nowReal: noon };

test.both.from(openLedger)('an import that ends half-way stops nobody and leaves nothing behind', async (store) => {
  const half = async function* () {
    yield [first, second];
    expect(await findEntries(store.db, [first])).toEqual([]);
    throw new Error('the disk with the file is gone');
  };
  await expect(importSuppressions(store, half(), { terms: never, clock })).rejects.toThrow('the disk');
  expect(await findEntries(store.db, [first, second])).toEqual([]);
  expect(await store.db.selectFrom('staged_suppressions').selectAll().execute()).toEqual([]);
});

test.from(openLedger)('what a killed import left behind is gone after the next, and nobody is on the list by it', async (store) => {
  const left = { import_id: 'killed', e164: third };
  const fresh = { import_id: 'at work', e164: third };
  await store.db
    .insertInto('staged_suppressions')
    .values([
      { ...left, staged_real: noon - dayMs - 1 },
      { ...fresh, staged_real: noon - minuteMs },
    ])
    .execute();
  const parts = async function* () {
    yield [second];
    yield [first];
  };
  expect(await importSuppressions(store, parts(), { terms: { ...never, expiresAt: noon + dayMs }, clock })).toBe(2);
  expect(await importSuppressions(store, parts(), { terms: { ...never, expiresAt: noon + dayMs }, clock })).toBe(0);
  expect(await importSuppressions(store, parts(), { terms: never, clock })).toBe(2);
  expect(await importSuppressions(store, parts(), { terms: { ...never, expiresAt: noon + dayMs }, clock })).toBe(0);
  const entry = { ...never, createdAt: noon };
  expect(await findEntries(store.db, [first, second, third])).toEqual([
    { ...entry, e164: first },
    { ...entry, e164: second },
  ]);
  const kept = await store.db.selectFrom('staged_suppressions').select('import_id').execute();
  expect(kept).toEqual([{ import_id: 'at work' }]);
  const log = await store.db.selectFrom('events').select(['type', 'campaign_id', 'data']).orderBy('seq').execute();
  const told = (e164: string, expiresAt: number | null) => ({
    type: 'suppression.added',
    campaign_id: 'account',
    data: JSON.stringify({ e164, scope: 'account', source: 'import:a.csv', expiresAt }),
  });
  const later = noon + dayMs;
  expect(log).toEqual([told(first, later), told(second, later), told(first, null), told(second, null)]);
});

test.both.from(openLedger)('an import whose numbers were thrown away under it adds nobody and says so', async (store) => {
  const parts = async function* () {
    yield [first];
    await store.db.deleteFrom('staged_suppressions').execute();
    yield [second];
  };
  await expect(importSuppressions(store, parts(), { terms: never, clock })).rejects.toThrow('import the file again');
  expect(await findEntries(store.db, [first, second])).toEqual([]);
});
