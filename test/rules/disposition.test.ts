import { describe, expect, test } from 'vitest';
import type { CampaignRules } from '../../src/rules/campaign-rules.ts';
import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import type { AttemptResult } from '../../src/rules/disposition.ts';
import { readRecord, type ReadHistory } from '../../src/rules/correlation/record.ts';
import { conversationRecord } from './conversation-record.ts';

type Facts = Partial<ConversationFacts>;

const heard = { hasTranscript: true, agentTurns: 2, userTurns: 1 };
const agentOnly = { hasTranscript: true, agentTurns: 1, userTurns: 0 };
const empty = { hasTranscript: true };

function result(disposition: AttemptResult['disposition'], detail: string | null = null, counted = true): AttemptResult {
  return { disposition, detail, counted };
}

/** Of a record that is finished, but not final. */
const finished = { finished: true, final: false };
const dispositionIn = (facts: Facts, rules: Parameters<typeof readRecord>[1] = {}) =>
  readRecord(conversationRecord(facts), rules, finished).disposition;

test.each<[string, Facts, AttemptResult | null]>(
  // prettier-ignore
  [
    ['a carrier result busy', { callResult: 'busy', ...empty }, result('busy')],
    ['a greeting that reads as a user turn under a carrier result', { callResult: 'voicemail', ...heard }, result('voicemail')],
    ['a carrier failure, which proves that nobody picked up', { callResult: 'failed', ...empty }, result('failed', null, false)],
    ['a carrier failure after the agent spoke', { callResult: 'failed', ...agentOnly }, result('failed')],
    ['a carrier failure after the callee spoke', { callResult: 'failed', hasTranscript: true, userTurns: 1 }, result('failed')],
    ['an answered call with words of the callee', { callResult: 'answered', ...heard }, result('answered')],
    ['an answered call on which only the agent spoke', { callResult: 'answered', ...agentOnly }, result('answered', 'silent')],
    ['an answered call on which nobody spoke', { callResult: 'answered', ...empty }, result('answered', 'silent')],
    ['an answered call in a list entry', { callResult: 'answered' }, result('answered')],
    ['an answered call that the service failed at once', { callResult: 'answered', status: 'failed', ...empty }, result('failed')],
    ['words of the callee alone', heard, result('answered')],
    ['words of the agent alone', { status: 'done', durationMs: 9_000, ...agentOnly }, result('answered', 'silent')],
    ['a failed conversation without transcript', { status: 'failed' }, result('failed')],
    ['a failed conversation with an empty transcript', { status: 'failed', ...empty, durationMs: 3_000 }, result('failed')],
    ['an empty transcript without duration', { status: 'done', ...empty }, result('unreached')],
    ['an empty transcript of zero duration', { ...empty, durationMs: 0, startedAt: 1_000, endedAt: 9_000 }, result('unreached')],
    ['an empty transcript that ended when it started', { ...empty, startedAt: 1_000, endedAt: 1_000 }, result('unreached')],
    ['an empty transcript although time passed', { ...empty, durationMs: 1 }, null],
    ['an empty transcript with an end after the start', { ...empty, startedAt: 1_000, endedAt: 1_001 }, null],
    ['an end without a start', { ...empty, endedAt: 9_000 }, result('unreached')],
    ['a list entry that shows only that the call was placed', { status: 'done', durationMs: 20_000 }, null],
  ],
)('the disposition is read from %s', (_, facts, expected) => {
  expect(dispositionIn(facts)).toEqual(expected);
});

test.each<[string, Facts, AttemptResult | null]>([
  ['goes on and shows words of the agent alone', { status: 'in-progress', ...agentOnly }, null],
  ['goes on and shows a result of the carrier', { status: 'in-progress', callResult: 'busy' }, result('busy')],
  ['goes on and shows words of the callee', { status: 'in-progress', ...heard }, result('answered')],
  ['never said more than that it began', { status: 'initiated', ...empty }, null],
])('of a call that, by its record, %s the disposition is read with care', (_, facts, expected) => {
  expect(dispositionIn(facts)).toEqual(expected);
  const given = readRecord(conversationRecord(facts), {}, { finished: true, final: true }).disposition;
  expect(given).toEqual(expected ?? result('unknown', 'record_tells_nothing'));
});

test('before a record is finished it has no disposition', () => {
  const facts = conversationRecord({ callResult: 'busy' });
  expect(readRecord(facts, {}, { finished: false, final: false }).disposition).toBeNull();
  expect(readRecord(facts).disposition).toBeNull();
});

test('a wish not to be called again goes before every other disposition, and keeps its detail', () => {
  const wish = { collected: { stop: true } };
  const rules = { optOut: [{ source: 'collected' as const, key: 'stop', values: [true] }] };
  expect(dispositionIn({ ...agentOnly, ...wish }, rules)).toEqual(result('opted_out', 'silent'));
  expect(dispositionIn(wish, rules)).toEqual(result('opted_out'));
  expect(dispositionIn(wish)).toBeNull();
});

const unread = { unchangedReads: 1, unchangedForMs: 0 };
const history = (more: Partial<ReadHistory>): ReadHistory => ({
  reads: unread,
  overSince: null,
  now: 0,
  analysisWaitMs: 900_001,
  ...more,
});

test.each<[Facts, number, number, { over: boolean; finished: boolean }]>([
  [{ status: 'initiated', endedAt: 5, durationMs: 5 }, 9, 900_000, { over: false, finished: false }],
  [{ status: 'in-progress', endedAt: 5 }, 9, 900_000, { over: false, finished: false }],
  [{ status: 'processing', endedAt: 5 }, 9, 900_000, { over: true, finished: false }],
  [{ status: 'done' }, 1, 0, { over: true, finished: true }],
  [{ endedAt: 5 }, 1, 0, { over: true, finished: true }],
  [{ durationMs: 1 }, 1, 0, { over: true, finished: true }],
  [{ durationMs: 0 }, 3, 120_000, { over: false, finished: true }],
  [{}, 3, 120_000, { over: false, finished: true }],
  [{}, 2, 120_000, { over: false, finished: false }],
  [{}, 3, 119_999, { over: false, finished: false }],
])('%o after %i equal reads over %i ms is %o', (facts, unchangedReads, unchangedForMs, expected) => {
  const reads = { unchangedReads, unchangedForMs };
  expect(readRecord(conversationRecord(facts), {}, history({ reads }))).toMatchObject(expected);
});

test.each<[string, Facts, number, boolean]>([
  ['a call in progress, however long', { status: 'in-progress', collected: { a: 1 } }, 10_000, false],
  ['results of an analysis that still runs', { status: 'processing', collected: { a: 1 } }, 899, false],
  ['an analysis that outlasts the wait', { status: 'processing' }, 900, true],
  ['done, with empty collected values', { status: 'done', ...heard, collected: {} }, 0, true],
  ['done, with an empty evaluation', { status: 'done', ...heard, evaluation: {} }, 0, true],
  ['done, results not shown', { status: 'done', ...heard }, 899, false],
  ['done, results never shown', { status: 'done', ...heard }, 900, true],
  ['done, both said as much, results not shown', { status: 'done', ...empty, agentTurns: 1, userTurns: 1 }, 0, false],
  ['done, only the agent spoke, results not shown', { status: 'done', ...agentOnly }, 0, false],
  ['done, nobody spoke, so that there is nothing to analyse', { status: 'done', ...empty }, 0, true],
  ['a list entry, which shows no transcript', { status: 'done' }, 0, false],
  ['failed, which has no analysis', { status: 'failed', ...heard }, 0, true],
  ['an end without status, results there', { endedAt: 5, ...heard, evaluation: { a: 1 } }, 0, true],
  ['an end without status, empty results that may still fill', { endedAt: 5, ...heard, collected: {}, evaluation: {} }, 899, false],
  ['an end without status, empty transcript that may still fill', { endedAt: 5, ...empty }, 899, false],
])('whether %s is final', (_, facts, overForMs, expected) => {
  const seen = history({ overSince: 0, now: overForMs, analysisWaitMs: 900 });
  expect(readRecord(conversationRecord(facts), {}, seen).final).toBe(expected);
});

test('a record without status and end becomes final once it no longer changes', () => {
  const seen = {
    reads: { unchangedReads: 3, unchangedForMs: 120_000 },
    overSince: null,
    now: 5_000,
    analysisWaitMs: 900,
  };
  const read = (facts: Facts, more: Partial<ReadHistory> = {}) => readRecord(conversationRecord(facts), {}, { ...seen, ...more });
  expect(read({ ...heard, collected: { a: 1 } })).toMatchObject({ final: true, overSince: 5_000 });
  expect(read(heard)).toMatchObject({ final: false, overSince: 5_000 });
  expect(read(heard, { overSince: 4_100 })).toMatchObject({ final: true, overSince: 4_100 });
  expect(read({ status: 'in-progress' })).toMatchObject({ final: false, overSince: null });
});

test('a record that says for four hours that the call goes on is given up', () => {
  const stuck = conversationRecord({ status: 'in-progress' });
  const after = (unchangedForMs: number) => readRecord(stuck, {}, history({ reads: { unchangedReads: 9, unchangedForMs } }));
  expect(after(4 * 3_600_000 - 1)).toMatchObject({ finished: false, final: false });
  expect(after(4 * 3_600_000)).toMatchObject({ finished: true, final: true });
});

const optOut: CampaignRules['optOut'] = [
  { source: 'collected', key: 'do_not_call', values: [true, 'Yes', 1] },
  { source: 'evaluation', key: 'opt_out', values: ['success'] },
];

test.each<[string, Facts, boolean]>([
  ['a listed boolean', { collected: { do_not_call: true } }, true],
  ['the same boolean as text', { collected: { do_not_call: 'TRUE ' } }, true],
  ['a listed number as text', { collected: { do_not_call: '1' } }, true],
  ['a value that is not listed', { collected: { do_not_call: 'no' } }, false],
  ['false', { collected: { do_not_call: false } }, false],
  ['a wrapped value', { collected: { do_not_call: { value: true, rationale: 'said so' } } }, true],
  ['a wrapped null', { collected: { do_not_call: { value: null, result: 'yes' } } }, false],
  ['a wrapped evaluation result', { evaluation: { opt_out: { result: 'Success' } } }, true],
  ['a wrapped list', { collected: { do_not_call: { value: [true] } } }, false],
  ['an inherited name', { collected: Object.create({ do_not_call: true }) }, false],
])('an opt-out is heard in %s or not', (_, facts, expected) => {
  expect(readRecord(conversationRecord(facts), { optOut }).optOut).toBe(expected);
});

describe('rules of the campaign file', () => {
  const rules = [
    { pointer: '/a', equals: ['USER_BUSY', 17], disposition: 'busy' },
    { pointer: '/b', equals: [true], disposition: 'failed' },
    { pointer: '/a', equals: ['user_busy', 'gone'], disposition: 'no_answer' },
  ] as const;
  const ruled = (pointed: Record<string, string>, more: Partial<ConversationFacts> = {}) =>
    dispositionIn({ pointed, ...more }, { dispositions: rules });

  test.each([
    [{ '/a': ' user_busy ' }, 'busy'],
    [{ '/a': 'GONE' }, 'no_answer'],
  ])('%o is %s: the first that fits, without case and blanks', (pointed, disposition) => {
    expect(ruled(pointed)?.disposition).toBe(disposition);
  });

  test('where none fits they say nothing', () => {
    expect(ruled({ '/a': 'answered', '/c': '17' })).toBeNull();
    expect(dispositionIn({}, { dispositions: rules })).toBeNull();
    expect(ruled({})).toBeNull();
  });

  test('a failure counts only when something was spoken', () => {
    expect(ruled({ '/b': 'true' })).toEqual({ disposition: 'failed', detail: null, counted: false });
    expect(ruled({ '/b': 'true' }, { agentTurns: 1 })).toMatchObject({ counted: true });
    expect(ruled({ '/b': 'true' }, { userTurns: 1 })).toMatchObject({ counted: true });
    expect(ruled({ '/a': '17' })).toMatchObject({ counted: true });
  });
});
