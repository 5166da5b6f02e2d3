import { expect, test } from 'vitest';
import { readRecord } from '../../src/rules/correlation/record.ts';
import { factsFromRecord } from '../../src/service/convai/record-facts.ts';
import { resultBy } from '../../src/verify/rules/records.ts';
import { readAuditedRules } from '../../src/verify/judged-rules.ts';
import type { AttemptRow } from '../../src/verify/reader.ts';
import { resultRule } from '../support/campaign-rules.ts';
import { countedShare, goalShare, resultOfTalk } from '../../src/rules/talk-results.ts';

const rules = [
  resultRule('confirmed', { value: { source: 'collected', key: 'confirmed', values: ['yes', true] }, goal: true }),
  resultRule('wrong_person', { value: { source: 'evaluation', key: 'right_person', values: ['failure'] } }),
  resultRule('hung_up', { value: { source: 'collected', key: 'confirmed', values: ['no'] }, talkUnderMs: 10_000 }),
  resultRule('cut_off', { talkUnderMs: 10_000 }),
];
const told = (collected: Record<string, unknown> | null, evaluation: Record<string, unknown> | null = null, lastedMs = 60_000) =>
  resultOfTalk({ collected, evaluation }, lastedMs, rules).result;

test('the first rule that describes a talk names it', () => {
  expect(told({ confirmed: true }, { right_person: 'failure' })).toBe('confirmed');
  expect(told({ confirmed: { value: ' YES ', rationale: 'said so' } })).toBe('confirmed');
  expect(told({ confirmed: 'no' }, { right_person: { result: 'failure' } })).toBe('wrong_person');
  expect(told({ confirmed: 'no' }, null, 9_999)).toBe('hung_up');
  expect(told({ confirmed: 'no' }, null, 10_000)).toBe('other');
  expect(told({}, {}, 9_999)).toBe('cut_off');
});

test('what is missing or is no plain value equals nothing, and a length that is not told is not short', () => {
  expect(told({ other: 'yes' })).toBe('other');
  expect(told({ confirmed: { value: ['yes'] } })).toBe('other');
  expect(told({ confirmed: null })).toBe('other');
  expect(told({ __proto__: { confirmed: 'yes' } })).toBe('other');
  expect(told({}, {}, 0)).toBe('other');
});

test('a talk without any analysis is told from one that no rule describes, where a rule asks for values', () => {
  expect(told(null)).toBe('none');
  expect(told(null, null, 5_000)).toBe('cut_off');
  expect(resultOfTalk({ collected: null, evaluation: null }, 60_000, [resultRule('cut_off', { talkUnderMs: 10_000 })])).toEqual({
    result: 'other',
    next: null,
  });
});

test('a share comes with the interval of Wilson for 95 of 100', () => {
  // Reckoned apart from the code.
  const rounded = ({ share, low, high }: ReturnType<typeof countedShare>) =>
    [share, low, high].map((each) => Math.round((each ?? NaN) * 1e4) / 1e4);
  expect(rounded(countedShare(9, 37))).toEqual([0.2432, 0.1336, 0.4012]);
  expect(rounded(countedShare(0, 50))).toEqual([0, 0, 0.0713]);
  expect(rounded(countedShare(5, 5))).toEqual([1, 0.5655, 1]);
  expect(countedShare(0, 0)).toEqual({ count: 0, of: 0, share: null, low: null, high: null });
});

test('the goal is counted over all its results, and only where a rule is one', () => {
  expect(goalShare(rules, { confirmed: 3, other: 1, none: 1 })).toMatchObject({ count: 3, of: 5 });
  expect(goalShare(rules, { confirmed: 3 }, 12)).toMatchObject({ count: 3, of: 12, share: 0.25 });
  expect(goalShare(rules.slice(1), { cut_off: 3 })).toBeNull();
  expect(goalShare(undefined, {})).toBeNull();
});

const collects = (when: unknown) => ({ collected_data: { when } });
const evaluates = (right: unknown) => ({ evaluation_results: { right } });
/** What a record holds; its result where one wrapping is taken off; the result in campaigns begun before. */
// prettier-ignore
const values: [what: string, record: object, result: string, before: string][] = [
  ['a bare value', collects('later'), 'later', 'later'],
  ['a wrapped one', collects({ value: ' Later ', rationale: 'so they said' }), 'later', 'later'],
  ['one wrapped under `analysis`', { analysis: { data_collection_results: { when: { value: 'later' } } } }, 'later', 'later'],
  ['one wrapped twice', collects({ value: { value: 'later' } }), 'other', 'later'],
  ['a list', collects(['later']), 'other', 'other'],
  ['a wrapped list', collects({ value: ['later'] }), 'other', 'other'],
  ['a list that is wrapped twice', collects({ value: { value: ['later'] } }), 'other', 'other'],
  ['an object', collects({ when: 'later' }), 'other', 'other'],
  ['the wrapping of an evaluation about a collected value', collects({ result: 'later' }), 'other', 'later'],
  ['a wrapped null', collects({ value: null }), 'other', 'other'],
  ['a bare evaluation', evaluates('failure'), 'wrong', 'wrong'],
  ['a wrapped evaluation', evaluates({ result: 'failure', rationale: 'x' }), 'wrong', 'wrong'],
  ['an evaluation wrapped twice', evaluates({ result: { result: 'failure' } }), 'other', 'wrong'],
  ['the wrapping of a collected value about an evaluation', evaluates({ value: 'failure' }), 'other', 'wrong'],
  ['a list as evaluation', evaluates({ result: ['failure'] }), 'other', 'other'],
  ['no analysis, and empty maps', { analysis: null, collected_data: {}, evaluation_results: {} }, 'none', 'other'],
  ['no analysis, and one empty map', { analysis: null, collected_data: {} }, 'none', 'other'],
  ['no analysis, and a value all the same', { analysis: null, ...collects('later'), evaluation_results: {} }, 'later', 'later'],
  ['no analysis, and an unknown value', { analysis: null, ...collects('never') }, 'other', 'other'],
  ['no analysis, and no maps', { analysis: null }, 'none', 'none'],
  ['an analysis that found nothing', { analysis: {}, collected_data: {}, evaluation_results: {} }, 'other', 'other'],
  ['empty maps without a word of an analysis', { collected_data: {}, evaluation_results: {} }, 'other', 'other'],
];

test.for(values)(
  '%s means the same to the ledger and to the judge, and campaigns begun before keep their reading',
  ([, record, now, before]) => {
    const results = [
      resultRule('later', { value: { source: 'collected', key: 'when', values: ['later'] } }),
      resultRule('wrong', { value: { source: 'evaluation', key: 'right', values: ['failure'] } }),
    ];
    const facts = factsFromRecord({ conversation_id: 'conv_1', status: 'done', transcript: [{ role: 'user', message: 'Hi.' }], ...record });
    const row = { state: 'settled', final: 1, disposition: 'answered', facts: JSON.stringify(facts) } as AttemptRow;
    for (const [frozen, result] of [
      [{ results, unwrapOnce: true }, now],
      [{ results }, before],
    ] as const) {
      expect(readRecord(facts, frozen, { finished: true, final: true }).talkResult?.result).toBe(result);
      expect(resultBy(readAuditedRules(frozen), row)?.result).toBe(result);
    }
  },
);

test('a wish not to be called again is also heard one wrapping deeper', () => {
  const optOut = [{ source: 'collected', key: 'when', values: ['later'] } as const];
  const facts = factsFromRecord({ conversation_id: 'conv_1', status: 'done', ...collects({ value: { value: 'later' } }) });
  expect(readRecord(facts, { optOut, unwrapOnce: true }).optOut).toBe(true);
});
