import { expect, test } from 'vitest';
import { batchTransitions, type BatchState } from '../../src/domain/ledger.ts';

const states = Object.keys(batchTransitions) as BatchState[];

/** Every state that a batch in this one can still come to. */
function reachable(from: BatchState): BatchState[] {
  const seen = new Set<BatchState>(batchTransitions[from]);
  for (const state of seen) for (const next of batchTransitions[state]) seen.add(next);
  return [...seen];
}

test('a batch that was sent, or may have been, is never sent again', () => {
  for (const state of ['confirmed', 'held', 'redial', 'given_up'] as const)
    expect(reachable(state)).not.toContain('posting');
  // Nobody knows: only proof that nothing was sent lets it go out once more.
  expect(batchTransitions.unknown).not.toContain('posting');
  expect(states.filter((state) => batchTransitions[state].includes('posting'))).toEqual(['intent', 'not_sent']);
});

test('nothing is sent before it is written down that it will be', () => {
  expect(batchTransitions.intent.toSorted()).toEqual(['posting', 'released']);
  expect(reachable('intent').toSorted()).toEqual(states.filter((state) => state !== 'intent').toSorted());
});

test('what is over stays so', () => {
  expect(states.filter((state) => batchTransitions[state].length === 0)).toEqual(['confirmed', 'released']);
});

test('late proof that a batch was placed holds against whatever was said or decided before', () => {
  expect(batchTransitions.refused).toEqual(['unknown']);
  expect(batchTransitions.redial).toEqual(['confirmed']);
  expect(batchTransitions.given_up).toEqual(['confirmed']);
});

test('a batch whose fate is not known is settled by proof, or held for a person', () => {
  expect(batchTransitions.unknown.toSorted()).toEqual(['confirmed', 'held', 'not_sent', 'refused']);
  expect(batchTransitions.held.toSorted()).toEqual(['confirmed', 'given_up', 'redial']);
});

test('only what was certainly not sent is given back without a call', () => {
  expect(states.filter((state) => batchTransitions[state].includes('released'))).toEqual(['intent', 'not_sent']);
  expect(batchTransitions.posting.toSorted()).toEqual(['confirmed', 'not_sent', 'refused', 'unknown']);
});
