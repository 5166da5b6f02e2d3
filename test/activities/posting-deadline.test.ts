import { expect, test } from 'vitest';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { dialects } from '../ledger/test-stores.ts';
import { startWorld, type ClockWorker } from './clock-world.ts';

/** Longer than a request may begin after its dial transaction. */
const tooLongMs = 11_000;

const clocks = [
  {
    seen: 'by the clock that never jumps, while the wall clock was set back',
    realMs: tooLongMs,
    setMs: -tooLongMs,
  },
  { seen: 'by the wall clock alone', realMs: 0, setMs: tooLongMs },
];

/** A store that answers late that a request may be made. */
function answeringLate(store: Store, standStill: () => void): Store {
  return {
    ...store,
    transaction: async (work) => {
      const result = await store.transaction(work);
      if ((result as { kind?: unknown } | undefined)?.kind === 'post') standStill();
      return result;
    },
  };
}

const moments = ['in its dial transaction', 'before it builds the body', 'once it has built the body'] as const;
const cases = dialects.flatMap((dialect) => moments.flatMap((moment) => clocks.map((clock) => ({ dialect, moment, ...clock }))));

test.for(cases)('a process that stands still before its request sends nothing: $moment, seen $seen: $dialect', async (given) => {
  const world = await startWorld();
  const store = await openCleanStore(given.dialect);
  await world.import(store);
  const standStill = () => {
    world.real += given.realMs;
    worker.aheadMs += given.setMs;
  };
  const isAsked = given.moment === moments[0];
  const worker: ClockWorker = world.worker(isAsked ? answeringLate(store, standStill) : store);
  if (given.moment === moments[1]) worker.beforePost = standStill;
  if (given.moment === moments[2]) worker.bodyBuilt = standStill;
  expect(await worker.dial(1)).toContain('NotSent');
  expect(world.sandbox.calls()).toEqual([]);
});
