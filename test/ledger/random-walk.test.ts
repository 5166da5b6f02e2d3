import { expect, test } from 'vitest';
import { readAggregates } from '../../src/ledger/aggregates.ts';
import { openCleanStore } from './clean-store.ts';
import { violations } from './edit-world.ts';
import { seedFactor } from '../support/depth.ts';
import { bothDialects } from './test-stores.ts';
import { Walk } from './walk-campaigns.ts';

const count = { sqlite: 3 * seedFactor, postgres: 2 * seedFactor };
const from = Number(process.env['WALK_FROM'] ?? 0);
const walks = bothDialects.flatMap((dialect) => Array.from({ length: count[dialect] }, (_, seed) => [dialect, from + seed] as const));

test.for(walks)(
  'whatever happens to two campaigns on their way, each ends with every row accounted for: %s, seed %s',
  async ([dialect, seed]) => {
    const store = await openCleanStore(dialect);
    const walk = new Walk(store, String(seed));
    await walk.run();
    expect(await violations(store)).toEqual([]);
    for (const { scenario } of walk.walkers) {
      const { campaignId } = scenario;
      const rows = await scenario.recipients();
      expect(rows.filter(({ state, outcome }) => state !== 'done' || outcome === null)).toEqual([]);
      expect(await scenario.campaign()).toMatchObject({ rowsTotal: rows.length, rowsRejected: 0 });
      const attempts = await scenario.attempts();
      const left = attempts.filter(({ state }) => state !== 'settled' && state !== 'released');
      expect(left).toEqual([]);
      const counted = new Map<string, number>();
      for (const { outcome } of rows) counted.set(`outcome ${outcome}`, (counted.get(`outcome ${outcome}`) ?? 0) + 1);
      for (const { disposition } of attempts)
        if (disposition !== null) counted.set(`disposition ${disposition}`, (counted.get(`disposition ${disposition}`) ?? 0) + 1);
      const kept = await readAggregates(store.db, campaignId, ['outcome', 'disposition']);
      const told = kept.filter(({ count: found }) => found !== 0);
      expect(new Map(told.map(({ kind, value, count: found }) => [`${kind} ${value}`, found]))).toEqual(counted);
    }
  },
);
