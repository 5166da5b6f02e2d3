import { expect, test } from 'vitest';
import { drawDisturbances, kinds } from './disturbances.ts';
import { judgeShape, type Trial } from './judge-shape.ts';
import { cellsOf, type Person } from './people.ts';

const [ann, bob, cy, dee]: Person[] = [
  { id: 'p-1', phone: '+12125550130', name: 'Person 1', kind: 'callable' },
  { id: 'p-2', phone: '+12125550131', name: 'Person 2', kind: 'callable' },
  { id: 'p-3', phone: '555', name: 'Person 3', kind: 'bad' },
  { id: 'p-4', phone: '+12125550132', name: 'Person 4', kind: 'barred' },
];
const people = [ann, bob, cy, dee].filter((person) => person !== undefined);
const [first, second] = ['+12125550130', '+12125550131'];

type Call = Trial['calls'][number];
const call = (changes: Partial<Call>): Call => ({
  to: first,
  requestId: 'shape/1/1/1',
  batchId: 'b1',
  acceptedAt: 1_000,
  endedAt: 60_000,
  result: 'answered',
  optedOut: false,
  ...changes,
});
const good: Trial = {
  calls: [
    call({}),
    call({ to: second, result: 'busy' }),
    call({
      to: second,
      result: 'no_answer',
      requestId: 'shape/1/2/1',
      batchId: 'b2',
      acceptedAt: 90_000,
      endedAt: null,
    }),
  ],
  people,
  results: ['completed', 'exhausted', 'rejected', 'suppressed'].map((outcome, index) => ({
    row: index + 1,
    cells: cellsOf(people[index] as Person),
    outcome,
  })),
  maxAttempts: 2,
  maxUncounted: 1,
  mostUnresolved: 0,
};
const calls = (...more: Call[]): Trial => ({ ...good, calls: [...good.calls, ...more] });
const outcome = (row: number, word: string): Trial => ({
  ...good,
  results: good.results.map((line) => (line.row === row ? { ...line, outcome: word } : line)),
});
const late = { acceptedAt: 200_000, requestId: 'shape/1/3/1', batchId: 'b3' };

test('a campaign in which every promise was kept is acquitted', () => {
  expect(judgeShape(good)).toEqual([]);
});

test('a call that the carrier could not place does not count, once between two that do', () => {
  const failed = call({ to: second, result: 'failed', requestId: 'shape/1/3/1', batchId: 'b3' });
  const before = { ...failed, acceptedAt: 500, endedAt: 600 };
  expect(judgeShape(calls(before))).toEqual([]);
  const again = { ...before, acceptedAt: 700, endedAt: 800, requestId: 'shape/1/4/1', batchId: 'b4' };
  expect(judgeShape(calls(before, again))).toEqual([`${second} was called 4 times`]);
});

test.each<[string, Trial, string]>(
  // prettier-ignore
  [
    ['a call after an answer', calls(call(late)), `${first}: called after an answer (shape/1/3/1)`],
    ['a call after an opt-out', { ...good, calls: [call({ optedOut: true }), ...good.calls.slice(1), call(late)],
      results: outcome(1, 'opted_out').results }, `${first}: called after an opt-out (shape/1/3/1)`],
    ['a call during a call', { ...good, calls: [call({}), call({ to: second, result: 'busy', endedAt: 99_000 }), ...good.calls.slice(2)] },
      `${second}: two calls at once (shape/1/2/1)`],
    ['one attempt too many', calls(call({ ...late, to: second })), `${second} was called 3 times`],
    ['a call that was forbidden', calls(call({ ...late, to: '+12125550132' })), '+12125550132 was called and must not be'],
    ['a second request of a batch', calls(call({ ...late, to: '+12125550199', requestId: 'shape/1/1/2' })),
      'Batch shape/1/1 was accepted 2 times: there was a second request'],
    ['a row that is gone', { ...good, results: good.results.slice(0, 3) }, 'The list has 4 rows, the results have 3'],
    ['a row of somebody else', { ...good, results: good.results.toReversed() }, 'Row 1 is not the row of the list'],
    ['a row without an outcome', outcome(1, 'in_progress'), 'Row 1 has no outcome but in_progress'],
    ['an answer that is denied', outcome(1, 'exhausted'), 'Row 1 is exhausted, and its calls say completed'],
    ['an answer that is made up', outcome(2, 'completed'), 'Row 2 is completed, and its calls say exhausted'],
    ['rows that need a hand without cause', outcome(2, 'unresolved'),
      '1 rows are left to an operator, more than the 0 that were under way'],
  ],
)('the judge finds %s', (_, trial, wanted) => {
  expect(judgeShape(trial)).toContain(wanted);
});

test('every seed kills each process, and a hundred seeds have every kind of disturbance', () => {
  const drawn = Array.from({ length: 100 }, (_, seed) => drawDisturbances(seed, 3).map(({ kind }) => kind));
  expect(drawDisturbances(7, 3)).toEqual(drawDisturbances(7, 3));
  expect(new Set(drawn.flat())).toEqual(new Set(kinds));
  for (const each of drawn)
    for (const kind of ['sending worker killed', 'Temporal server killed', 'ledger killed', 'service killed'] as const)
      expect(each).toContain(kind);
});
