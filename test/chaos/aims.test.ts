import { expect, test } from 'vitest';
import { guards } from '../worlds/guards.ts';
import { guardsOfLedger } from '../worlds/guards-of-ledger.ts';
import { guardsOfRows } from '../worlds/guards-of-rows.ts';
import { aims } from './aims.ts';
import { scenarios } from './scenarios.ts';

test('every guard of the ledger is looked for, or has a test that sees it', () => {
  const names = aims.map(({ guard }) => guard);
  expect([...guardsOfLedger, ...guardsOfRows].filter(({ name }) => !names.includes(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

test.for(aims)('$guard: the guard and its scenarios exist, and what no case can see has a test', (aimed) => {
  const guard = guards.find(({ name }) => name === aimed.guard);
  expect(guard).toBeDefined();
  if ('unseen' in aimed) expect(guard?.test).toBeDefined();
  else {
    const known = scenarios.map(({ name }) => name);
    expect(aimed.aim.scenarios.filter((name) => !known.includes(name))).toEqual([]);
  }
});
