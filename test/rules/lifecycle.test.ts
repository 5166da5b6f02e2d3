import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { campaignStates, campaignTransitions, drainReasons, hasEnded, outcomeOfWaiting } from '../../src/rules/lifecycle.ts';
import { nextStep, type WaitReason } from '../../src/rules/pacing/next-step.ts';
import { batchTransitions, type BatchState } from '../../src/rules/ledger.ts';

test('every state can be reached from the import, and every campaign can end', () => {
  const reachable = (from: readonly (typeof campaignStates)[number][]): Set<string> => {
    const seen = new Set<string>(from);
    for (const state of seen) for (const next of campaignTransitions[state as keyof typeof campaignTransitions]) seen.add(next);
    return seen;
  };
  expect(reachable(['importing'])).toEqual(new Set(campaignStates));
  for (const state of campaignStates) expect(reachable([state])).toContain('completed');
});

test('what drains dials no more, and what has ended goes on only by another start', () => {
  expect(campaignTransitions.draining).toEqual(['completed', 'cancelled', 'failed']);
  for (const state of campaignStates.filter((each) => hasEnded({ state: each })))
    expect(campaignTransitions[state]).toEqual(['scheduled', 'running']);
  expect(campaignStates.filter((state) => hasEnded({ state }))).toEqual(['completed', 'cancelled', 'failed']);
  expect(campaignTransitions.draft).toEqual(['scheduled', 'running']);
  expect(campaignTransitions.importing).toEqual(['draft']);
});

test('whoever waits when a campaign drains was cancelled, or came too late', () => {
  expect(drainReasons.map((reason) => [reason, outcomeOfWaiting(reason)])).toEqual([
    ['cancelled', 'cancelled'],
    ['drained', 'cancelled'],
    ['campaign_end', 'expired'],
  ]);
});

/** The changes that a document's table names: rows that begin with `from`, `from` → `to`, `to`. */
function documentedChanges(text: string): string[] {
  const rows = text.matchAll(/^\| (`[^|]*` → `[^|]*`) +\|/gm);
  return [...rows].flatMap(([, cell = '']) => {
    const [from = [], to = []] = cell.split('→').map((side) => side.match(/[a-z]+/g) ?? []);
    return from.flatMap((before) => to.map((after) => `${before} → ${after}`));
  });
}

test('the documented changes of a campaign are those of the program, each once', () => {
  const page = readFileSync(new URL('../../docs/lifecycle.md', import.meta.url), 'utf8');
  // What is still being imported is seen by nobody.
  const shown = campaignStates.filter((state) => state !== 'importing');
  const legal = shown.flatMap((before) => campaignTransitions[before].map((after) => `${before} → ${after}`));
  expect(documentedChanges(page).toSorted()).toEqual(legal.toSorted());
  expect(documentedChanges(page.replace('`paused`, `draining` →', '`paused` →')).toSorted()).not.toEqual(legal.toSorted());
});

const wait = (reason: WaitReason, outstanding: boolean, inMs: number | null = 5_000) =>
  nextStep({ kind: 'wait', reason, inMs, outstanding });

test('a batch is dialled, and a round without one is done', () => {
  expect(nextStep({ kind: 'batch', batchId: 'spring/1/1', size: 20 })).toEqual({
    kind: 'dial',
    batchId: 'spring/1/1',
    size: 20,
  });
  expect(nextStep({ kind: 'done' })).toEqual({ kind: 'done' });
});

test.for(['blocked', 'pacing', 'paused', 'scheduled'] as const)(
  'a wait because of "%s" ends with the clock, also while calls are open',
  (reason) => {
    expect(wait(reason, true)).toMatchObject({ kind: 'wait', forMs: 5_000 });
    expect(wait(reason, false)).toMatchObject({ kind: 'wait', forMs: 5_000 });
  },
);

test.for(['due', 'capacity', 'share', 'canary', 'words', 'collecting'] as const)(
  'a wait because of "%s" ends when the collector says so while calls are open, and with the clock otherwise',
  (reason) => {
    expect(wait(reason, true)).toMatchObject({ kind: 'wait', forMs: null });
    expect(wait(reason, false)).toMatchObject({ kind: 'wait', forMs: 5_000 });
  },
);

test('a pause of unknown length ends with a change alone', () => {
  expect(wait('paused', false, null)).toEqual({ kind: 'wait', reason: 'paused', outstanding: false, forMs: null, onlyPromises: false });
});

const states = Object.keys(batchTransitions) as BatchState[];

/** Every state that a batch in this one can still come to. */
function reachable(from: BatchState): BatchState[] {
  const seen = new Set<BatchState>(batchTransitions[from]);
  for (const state of seen) for (const next of batchTransitions[state]) seen.add(next);
  return [...seen];
}

test('a batch that was sent, or may have been, is never sent again', () => {
  for (const state of ['confirmed', 'held', 'redial', 'given_up'] as const) expect(reachable(state)).not.toContain('posting');
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
