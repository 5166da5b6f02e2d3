import { expect, onTestFinished, test } from 'vitest';
import { range } from '../activities/mixes/run-mixes.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { seedFactor } from '../support/depth.ts';
import { sharedServer } from '../support/shared-server.ts';
import { chooseCases } from './design.ts';
import type { DatabaseKind } from './ledger-level.ts';
import { Place } from './places.ts';
import { emptyWeaves, formatWeaves, runCase, runSeed } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

export async function openPlace(database: DatabaseKind, name: string): Promise<Place> {
  const databaseUrl = database === 'sqlite' ? undefined : await createDatabase(await sharedServer('postgres'), `chaos_${name}`);
  const place = await Place.open({ databaseUrl });
  onTestFinished(() => place.close());
  return place;
}

/** Tests one in so many of the cases that reach each cell of the matrix once, and some seeds; `npm run chaos` runs them all. */
export function testWeaves(database: DatabaseKind, { every, seeds }: { every: number; seeds: number }): void {
  const testHere = test.skipIf(!bothDialects.includes(database));

  testHere(`wherever a worker dies or another one comes between, nobody is called twice, on ${database}`, async () => {
    const place = await openPlace(database, 'design');
    const weaves = emptyWeaves();
    const step = Math.max(1, Math.round(every / seedFactor));
    const cases = await chooseCases(place, scenarios, { perCell: 1 });
    for (const each of cases.filter((_, index) => index % step === 0)) await runCase(place, each, weaves);
    expect(weaves.broken.join('\n\n')).toBe('');
    // They are no proof where they come to nothing.
    expect(weaves.cases).toBeGreaterThan(scenarios.length);
    expect(weaves.missed, formatWeaves(weaves)).toBeLessThan(weaves.cases / 20);
  });

  const last = Math.round(seeds * seedFactor);
  testHere(`nor when several things happen to a campaign: seeds 1 to ${last} on ${database}`, async () => {
    const place = await openPlace(database, 'seeds');
    const weaves = emptyWeaves();
    for (const seed of range(1, last)) await runSeed(place, seed, weaves);
    expect(weaves.broken.join('\n\n')).toBe('');
  });
}
