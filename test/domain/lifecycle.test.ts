import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  campaignStates,
  campaignTransitions,
  drainReasons,
  hasEnded,
  outcomeOfWaiting,
} from '../../src/domain/lifecycle.ts';

test('every state can be reached from the import, and every campaign can end', () => {
  const reachable = (from: readonly (typeof campaignStates)[number][]): Set<string> => {
    const seen = new Set<string>(from);
    for (const state of seen)
      for (const next of campaignTransitions[state as keyof typeof campaignTransitions]) seen.add(next);
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
  expect(documentedChanges(page.replace('`paused`, `draining` →', '`paused` →')).toSorted()).not.toEqual(
    legal.toSorted(),
  );
});
