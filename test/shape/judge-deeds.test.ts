import { expect, test } from 'vitest';
import { judgeDeeds, type DeedTrial } from './judge-deeds.ts';

const barred = '+12125550130';
const withdrawn = '+12125550131';
const spared = '+12125550132';
const called = '+12125550133';
const at = 100_000;
const call = (to: string, realAcceptedAt: number, requestId = 'shape/1/1/1'): DeedTrial['calls'][number] => ({
  to,
  realAcceptedAt,
  requestId,
});
const good: DeedTrial = {
  calls: [call(called, 1_000), call(called, at + 500), call(spared, at + 600)],
  outcomes: new Map([
    [barred, 'suppressed'],
    [withdrawn, 'cancelled'],
    [spared, 'completed'],
    [called, 'exhausted'],
  ]),
  deeds: [
    { act: 'suppress', phone: barred, end: 'done', at },
    { act: 'withdraw', phone: withdrawn, end: 'done', at },
    { act: 'suppress', phone: spared, end: 'refused', at },
    { act: 'withdraw', phone: called, end: 'unheard', at },
  ],
  pauses: [{ from: at, to: at + 4_000 }],
  smaller: { at, size: 1 },
  logged: 4,
  counts: { carriedOut: 3, unheard: 1 },
};
const outcome = (phone: string, word: string): DeedTrial => ({
  ...good,
  outcomes: new Map([...good.outcomes, [phone, word]]),
});

test('people who were obeyed find nothing wrong, and one request may have been on its way at a pause', () => {
  expect([...judgeDeeds(good)]).toEqual([]);
  const planned = [call(called, at + 9_000, 'shape/1/3/1'), call(spared, at + 9_000, 'shape/1/3/1')];
  expect([...judgeDeeds({ ...good, calls: [...good.calls, ...planned] })]).toEqual([]);
  expect([...judgeDeeds({ ...good, logged: 3 })]).toEqual([]);
  // It was called before it could be withdrawn, and stays as it is.
  const early = { ...outcome(withdrawn, 'completed'), calls: [...good.calls, call(withdrawn, at - 9_000)] };
  expect([...judgeDeeds(early)]).toEqual([]);
});

test.each<[string, DeedTrial, string]>(
  // prettier-ignore
  [
    ['a call to a number that was barred', { ...good, calls: [...good.calls, call(barred, at + 31_000)] },
      `${barred} was called after its suppress was answered`],
    ['a number that was barred in vain', outcome(barred, 'exhausted'), `${barred}: its suppress was answered, and its row is exhausted`],
    ['a row that was withdrawn in vain', outcome(withdrawn, 'exhausted'),
      `${withdrawn}: its withdraw was answered, and its row is exhausted`],
    ['what was refused, and done', outcome(spared, 'suppressed'), `${spared}: its suppress was refused, and its row is suppressed`],
    ['dialling in a pause', { ...good, calls: [...good.calls, call(called, at + 3_000, 'shape/1/2/1')] },
      '2 requests came while it was paused, and one may have been on its way'],
    ['a batch that is too large, and was not planned before', { ...good, pauses: [],
      calls: [...good.calls, call(called, at + 9_000, 'shape/1/4/1'), call(spared, at + 9_000, 'shape/1/4/1')] },
      'shape/1/4/1 has 2 calls, after batches of 1 were asked for'],
    ['a change that was made twice', { ...good, logged: 5 }, 'The log has 5 changes of people, who were told of 3 and know nothing of 1'],
    ['a change that was answered and not made', { ...good, logged: 2 },
      'The log has 2 changes of people, who were told of 3 and know nothing of 1'],
  ],
)('the judge of acts finds %s', (_, trial, wanted) => {
  expect([...judgeDeeds(trial)]).toContain(wanted);
});
