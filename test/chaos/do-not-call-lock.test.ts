import { expect, test, vi } from 'vitest';
import type * as Locks from '../../src/ledger/locks.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { emptyWeaves, runCase } from './run-weaves.ts';
import { designOf } from './design.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { openPlace } from './places.ts';

/** The lock that makes an entry of the do-not-call list wait for a dial that is about to be committed, and the other way round. */
vi.mock('../../src/ledger/locks.ts', async (load) => ({ ...(await load<typeof Locks>()), lockToDial: async () => {} }));

test.skipIf(!bothDialects.includes('postgres'))(
  'without the lock of the do-not-call list, an entry that is written while a dial commits is caught being dialled',
  async () => {
    const place = await openPlace('postgres');
    const cases = await designOf(place, scenarios[0] as Scenario);
    const weaves = emptyWeaves();
    for (const each of cases) {
      if (each.kind !== 'inside' || each.intervention.beside?.act !== 'suppress') continue;
      await runCase(place, each, weaves);
      if (weaves.broken.length > 0) break;
    }
    expect(weaves.broken.join('\n')).toContain('called though stopped by a person');
  },
);
