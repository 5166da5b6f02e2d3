import { expect, test } from 'vitest';
import { leaseAgent, releaseLease } from '../../src/ledger/collect/sweeps.ts';
import type { Store } from '../../src/ledger/open-ledger.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { agentId } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { startWorld, type ClockWorld } from './clock-world.ts';

/** The service answers 429, and makes the calls all the same. */
const denied: FaultRuleInput = {
  operation: 'batch_calls',
  nth: 1,
  effect: { type: 'rate_limited', seconds: 70, when: 'after' },
};

/** Two people whose batch was denied, and called; their records are listed, and nobody has read them. */
async function startDenied(store: Store): Promise<{ world: ClockWorld; dial: () => Promise<string> }> {
  const world = await startWorld({ faults: [denied] });
  await world.import(store, { pacing: { batchSize: 2 } }, 2);
  const worker = world.worker(store);
  const dial = () => worker.dial(1);
  expect(await dial()).toContain('RateLimited');
  expect(world.sandbox.calls()).toHaveLength(2);
  world.real += 5 * minuteMs;
  return { world, dial };
}

test.for(dialects)('after a 429 nobody is called again while another process reads the list: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const { world, dial } = await startDenied(store);
  expect(await leaseAgent(store, { agentId, owner: 'another process', forMs: minuteMs })).toBe(true);
  expect(await dial()).toContain('Blocked');
  await releaseLease(store, agentId, 'another process');
  world.real += minuteMs;
  expect(await dial()).toBe('confirmed');
  expect(world.sandbox.calls()).toHaveLength(2);
});

test.for(dialects)('after a 429 nobody is called again while the list cannot be read: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const { world, dial } = await startDenied(store);
  world.sandbox.addFaults([{ operation: 'list_conversations', times: 1, effect: { type: 'error', status: 403 } }]);
  expect(await dial()).toContain('Blocked');
  world.real += minuteMs;
  expect(await dial()).toBe('confirmed');
  expect(world.sandbox.calls()).toHaveLength(2);
});
