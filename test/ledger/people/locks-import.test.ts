import { expect, test } from 'vitest';
import { importSuppressions } from '../../../src/ledger/people/suppression-import.ts';
import { findEntries, type Suppression } from '../../../src/ledger/rows/suppressions.ts';
import { openCleanStore } from '../clean-store.ts';
import { noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

const [first = '', second = '', third = ''] = numbers(3);
const minuteMs = 60_000;
const dayMs = 86_400_000;
const never: Omit<Suppression, 'e164'> = { scope: 'account', source: 'import:a.csv', reason: null, expiresAt: null };
const clock = { now: noon, nowReal: noon };

test.for(bothDialects)('an import that ends half-way stops nobody and leaves nothing behind: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const half = async function* () {
    yield [first, second];
    expect(await findEntries(store.db, [first])).toEqual([]);
    throw new Error('the disk with the file is gone');
  };
  await expect(importSuppressions(store, half(), { terms: never, clock })).rejects.toThrow('the disk');
  expect(await findEntries(store.db, [first, second])).toEqual([]);
  expect(await store.db.selectFrom('staged_suppressions').selectAll().execute()).toEqual([]);
});

test.for(bothDialects)('what a killed import left behind is gone after the next, and nobody is on the list by it: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
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

test.for(bothDialects)('an import whose numbers were thrown away under it adds nobody and says so: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const parts = async function* () {
    yield [first];
    await store.db.deleteFrom('staged_suppressions').execute();
    yield [second];
  };
  await expect(importSuppressions(store, parts(), { terms: never, clock })).rejects.toThrow('import the file again');
  expect(await findEntries(store.db, [first, second])).toEqual([]);
});
