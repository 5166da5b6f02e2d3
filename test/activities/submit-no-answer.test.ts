import { expect, test } from 'vitest';
import { RateLimitedError } from '../../src/service/port/errors.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { submittingWorker } from '../support/submitting-worker.ts';
import { startWorld } from './clock-world.ts';

/** After none of these is it known whether anybody is called. `placed`: how many the service calls all the same. */
const answers: { what: string; effect: FaultRuleInput['effect']; placed: number }[] = [
  { what: 'a connection that breaks before the service acts', effect: { type: 'reset', when: 'before' }, placed: 0 },
  { what: 'a connection that breaks once it has acted', effect: { type: 'reset', when: 'after' }, placed: 4 },
  { what: 'a failure (500) before it acts', effect: { type: 'error', status: 500, when: 'before' }, placed: 0 },
  { what: 'a failure (503) once it has acted', effect: { type: 'error', status: 503, when: 'after' }, placed: 4 },
  { what: 'a page from something in front of it', effect: { type: 'html', status: 502, when: 'after' }, placed: 4 },
  { what: 'a success that cannot be read', effect: { type: 'html', status: 200, when: 'after' }, placed: 4 },
  { what: 'a success that breaks off', effect: { type: 'truncate', ending: 'broken' }, placed: 4 },
];
const cases = dialects.flatMap((dialect) => answers.map((answer) => ({ dialect, ...answer })));

test.for(cases)('after $what a batch is in doubt, and is not sent again: $dialect', async (given) => {
  const world = await startWorld({ faults: [{ operation: 'batch_calls', nth: 1, effect: given.effect }] });
  const store = await openCleanStore(given.dialect);
  await world.import(store);
  const worker = world.worker(store);
  expect(await worker.dial(1)).toBe('unknown');
  expect(await worker.dial(1)).toBe('unknown');
  expect(await worker.plan(2)).toMatchObject({ kind: 'wait', outstanding: true });
  const posts = world.sandbox.journal().filter(({ operation }) => operation === 'batch_calls');
  expect(posts).toHaveLength(1);
  expect(world.sandbox.calls()).toHaveLength(given.placed);
});

const facts = { method: 'POST', path: '/', requestId: null };
const failures = [
  { what: 'a defect of the client', failure: new TypeError('not a function') },
  {
    what: 'a 429 that names a batch',
    failure: new RateLimitedError(facts, { retryAfterMs: 1_000, code: null, batchId: 'service_1' }),
  },
];
const failureCases = dialects.flatMap((dialect) => failures.map((failure) => ({ dialect, ...failure })));

test.for(failureCases)('$what leaves a batch in doubt as well: $dialect', async ({ dialect, failure }) => {
  const scenario = await beginProven(await openCleanStore(dialect));
  await scenario.plan(1);
  const worker = submittingWorker(scenario.store, {
    meanwhile: () => Promise.reject(failure),
  });
  const input = { batchId: scenario.batchId(1) };
  const doubt = { kind: 'verdict', state: 'unknown' };
  expect(await worker.submit(input)).toMatchObject(doubt);
  expect(await worker.submit(input)).toMatchObject(doubt);
  expect(worker.posts).toEqual([`${input.batchId}/1`]);
});
