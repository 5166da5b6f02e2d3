import { expect, test } from 'vitest';
import { openCleanStore } from '../ledger/clean-store.ts';
import { dialects } from '../ledger/test-stores.ts';
import { startWorld } from './clock-world.ts';

/** Longer than a request may begin after its dial transaction. */
const tooLongMs = 11_000;

const cases = dialects.flatMap((dialect) => [
  {
    dialect,
    what: 'by the clock that never jumps, while the wall clock was set back',
    realMs: tooLongMs,
    setMs: -tooLongMs,
  },
  { dialect, what: 'by the wall clock alone', realMs: 0, setMs: tooLongMs },
]);

test.for(cases)('a process that stands still before its request sends nothing $what: $dialect', async (given) => {
  const world = await startWorld();
  const store = await openCleanStore(given.dialect);
  await world.import(store);
  const worker = world.worker(store);
  worker.beforePost = () => {
    world.real += given.realMs;
    worker.aheadMs += given.setMs;
  };
  expect(await worker.dial(1)).toContain('NotSent');
  expect(world.sandbox.calls()).toEqual([]);
});
