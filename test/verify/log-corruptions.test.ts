import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { LogJudge } from '../../src/verify/log-judge.ts';
import type { LoggedEvent } from '../../src/verify/log.ts';
import { logRules, type LogRule } from '../../src/verify/log-rules.ts';
import { buildRules, hourMs, minuteMs } from '../support/campaign-rules.ts';

/** A Tuesday, 10:00 in New York. */
const ten = Date.UTC(2030, 0, 15, 15);
const key = 'key of the database';
const place = { zones: ['America/New_York'], country: 'US', regions: ['NY'] };
const [ana, ben, cy, stranger] = ['+12125550100', '+12125550101', '+12125550102', '+12125550199'];
const numbers = [ana, ben, cy];
const rules = buildRules({
  calendar: { hours: { tue: [{ from: 9 * 60, to: 17 * 60 }] }, closedOn: ['2030-01-22'] },
  caps: [
    { by: 'number', calls: 2, withinMs: 3 * hourMs },
    { by: 'number', afterTalkMs: 10 * hourMs },
  ],
  retry: { maxAttempts: 2, delays: { ...buildRules().retry.delays, busy: [hourMs, 2 * hourMs], failed: [minuteMs] } },
  pacing: { maxConcurrentCalls: 2, startsPerMinute: 2 },
});
const preDial = { url: 'http://127.0.0.1:9/ask', timeoutMs: 1_000 };

type Draft = Omit<LoggedEvent, 'campaignId' | 'seq' | 'type'> & { campaignId?: string; type: string };
type Change = (log: Draft[]) => Draft[];

/** `version`: 1 as older logs have them, which tell none. */
function hashes(campaignId = 'spring', of: readonly (string | undefined)[] = numbers, version = 1): string {
  const parts = of.map((e164, index) => {
    const id = `${campaignId}/${index + 1}`;
    const text =
      version === 1
        ? JSON.stringify([id, e164, null, place.zones, 'US', ['NY'], null, null])
        : `${id}\n{"country":"US","e164":"${e164}","regions":["NY"],"zones":["America/New_York"]}`;
    return createHmac('sha256', key).update(text).digest().subarray(0, 8);
  });
  return Buffer.concat(parts).toString('base64url');
}

function batch(n: number, at: number, calls: [attemptId: string, number: string | undefined][]): Draft[] {
  const batchId = `spring/1/${n}`;
  const size = calls.length;
  const rowOf = (attemptId: string) => attemptId.replace(/\/\d+$/, '');
  return [
    { at, type: 'batch.planned', batchId, data: { size } },
    ...calls.map(([attemptId]) => ({ at, type: 'attempt.planned', batchId, attemptId, recipientId: rowOf(attemptId) })),
    { at, type: 'batch.posting', batchId, data: { k: 1, size, caller: 'pn_main' } },
    ...calls.map(([attemptId, e164]) => ({
      at,
      type: 'attempt.posted',
      batchId,
      attemptId,
      recipientId: rowOf(attemptId),
      data: { k: 1, e164, person: null, ...place, notBefore: null, expiresAt: null },
    })),
    { at: at + 1, type: 'post.verdict', batchId, data: { k: 1, verdict: 'confirmed', status: 200 } },
    { at: at + 1, type: 'batch.state', batchId, data: { state: 'confirmed', by: 'reply' } },
  ];
}

const settled = (attemptId: string, at: number, disposition: string): Draft => ({
  at,
  type: 'attempt.settled',
  attemptId,
  data: { disposition, counted: true },
});
const outcome = (row: number, at: number, result: string, reason: string | null = null): Draft => ({
  at,
  type: 'recipient.outcome',
  recipientId: `spring/${row}`,
  data: { outcome: result, reason },
});

/** Ana answers, Ben is busy twice, Cy answers in a batch of his own; the log is as it is written. */
const kept: readonly Draft[] = [
  { at: ten, type: 'campaign.imported', data: { rows: 3, firstRow: 1, rejected: 0, rules } },
  { at: ten, type: 'campaign.rows', data: { from: 1, hashes: hashes() } },
  { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
  { at: ten, type: 'round.started', data: { round: 1 } },
  ...batch(1, ten, [
    ['spring/1/1', ana],
    ['spring/2/1', ben],
  ]),
  outcome(1, ten + 5 * minuteMs, 'completed', 'answered'),
  settled('spring/1/1', ten + 5 * minuteMs, 'answered'),
  settled('spring/2/1', ten + 5 * minuteMs, 'busy'),
  ...batch(2, ten + 10 * minuteMs, [['spring/3/1', cy]]),
  outcome(3, ten + 15 * minuteMs, 'completed', 'answered'),
  settled('spring/3/1', ten + 15 * minuteMs, 'answered'),
  ...batch(3, ten + 70 * minuteMs, [['spring/2/2', ben]]),
  outcome(2, ten + 75 * minuteMs, 'exhausted', 'attempts_used_up'),
  settled('spring/2/2', ten + 75 * minuteMs, 'busy'),
  { at: ten + 2 * hourMs, type: 'campaign.state', data: { from: 'running', to: 'completed' } },
  { at: ten + 2 * hourMs, type: 'round.ended', data: { round: 1 } },
];

function judge(log: readonly Draft[]) {
  const judged = new LogJudge(key);
  for (const [index, draft] of log.entries())
    judged.take({ seq: index + 1, campaignId: 'spring', ...draft } as Parameters<LogJudge['take']>[0]);
  return judged.finish();
}

const named = (log: readonly Draft[]): string[] => [...new Set(judge(log).violations.map(({ rule }) => rule))].sort();

type Which = (event: Draft) => boolean;
const of =
  (type: string, id = ''): Which =>
  (event) =>
    event.type === type && [event.attemptId, event.recipientId, event.batchId, undefined].includes(id || undefined);
const change =
  (which: Which, how: (event: Draft) => Draft): Change =>
  (log) =>
    log.map((event) => (which(event) ? how(event) : event));
const data = (which: Which, changes: Record<string, unknown>): Change =>
  change(which, (event) => ({ ...event, data: { ...event.data, ...changes } }));
const without =
  (...which: Which[]): Change =>
  (log) =>
    log.filter((event) => !which.some((is) => is(event)));
const before =
  (which: Which, ...events: Draft[]): Change =>
  (log) =>
    log.toSpliced(log.findIndex(which), 0, ...events);
const all =
  (...changes: Change[]): Change =>
  (log) =>
    changes.reduce((changed, one) => one(changed), log);
const moved = (which: Which, byMs: number): Change => change(which, (event) => ({ ...event, at: event.at + byMs }));
const ofBatch =
  (n: number, ...attemptIds: string[]): Which =>
  (event) =>
    event.batchId === `spring/1/${n}` || attemptIds.includes(event.attemptId ?? '');
const campaignRules = (changes: object): Change => data(of('campaign.imported'), { rules: { ...rules, ...changes } });
const end = of('campaign.state', '');
const ended: Which = (event) => end(event) && event.data?.['to'] === 'completed';
const suppression: Draft = {
  campaignId: 'account',
  at: ten,
  type: 'suppression.added',
  data: { e164: ben, scope: 'account', expiresAt: null },
};
const day = 24 * hourMs;

/** Each change of a clean log names these rules, and no other. */
// prettier-ignore
const corruptions: [rules: LogRule[], what: string, change: Change][] = [
  [['row_forged'], 'a stranger is called first', data(of('attempt.posted', 'spring/2/1'), { e164: stranger })],
  [['row_forged'], 'a stranger is called at the retry', data(of('attempt.posted', 'spring/2/2'), { e164: stranger })],
  [['row_forged'], 'zone and country of a call in the night are forged',
    all(moved((event) => event.at >= ten + 70 * minuteMs, 9 * hourMs),
    data(of('attempt.posted', 'spring/2/2'), { zones: ['Pacific/Honolulu'], country: 'GB', regions: null }))],
  [['row_forged'], 'the expiry of a row is forged', data(of('attempt.posted', 'spring/2/2'), { expiresAt: ten + 9 * day })],
  [['row_forged'], 'a person is hidden from the caps', data(of('attempt.posted', 'spring/2/2'), { person: 'x' })],
  [['row_forged'], 'a row is given what no row of its time could say', data(of('attempt.posted', 'spring/2/2'), { later: 7 })],
  [['log_incomplete'], 'the hashes of the rows are gone', without(of('campaign.rows'))],
  [['time_reversed'], 'a call that ends before it began', moved((event) => of('attempt.settled',
    'spring/3/1')(event) || of('recipient.outcome', 'spring/3')(event), -20 * minuteMs)],
  [['time_reversed'], 'a request before the import', moved(ofBatch(1), -6 * minuteMs)],
  [['time_reversed'], 'a request 400 days late', all(campaignRules({ calendar: { hours: null, closedOn: [] } }),
    moved(of('attempt.posted', 'spring/2/2'), 400 * day))],
  [['miscounted'], 'a call that hides that it counts', data(of('attempt.settled', 'spring/3/1'), { counted: false })],
  [['miscounted'], 'one failed call too many that does not count',
    all(campaignRules({ retry: { ...rules.retry, maxUncounted: 1 } }),
    data(of('attempt.settled', 'spring/2/1'), { disposition: 'failed', counted: false }),
    data(of('attempt.settled', 'spring/2/2'), { disposition: 'failed', counted: false }),
    data(of('recipient.outcome', 'spring/2'), { outcome: 'exhausted', reason: 'no_retry_after_failed' }))],
  [['cause_missing'], 'a verdict is deleted', without(of('post.verdict', 'spring/1/2'))],
  [['cause_missing'], 'the state of a batch is deleted', without(of('batch.state', 'spring/1/2'))],
  [['cause_missing'], 'verdict and state of a batch are deleted',
    without(of('post.verdict', 'spring/1/2'), of('batch.state', 'spring/1/2'))],
  [['cause_missing'], 'the end of the campaign is deleted', without(ended)],
  [['cause_missing'], 'the end of the round is deleted', without(of('round.ended'))],
  [['cause_missing'], 'a batch that a record confirmed, and whose record is deleted',
    data(of('batch.state', 'spring/1/2'), { by: 'evidence' })],
  [['cause_missing'], 'a pause is deleted, and its end is not', before(of('batch.planned', 'spring/1/3'),
    { at: ten + 20 * minuteMs, type: 'campaign.state', data: { from: 'paused', to: 'running' } })],
  [['outcome_unproven'], 'the last batch is erased, and its row expired in a campaign without an end',
    all(without(ofBatch(3, 'spring/2/2')), data(of('recipient.outcome', 'spring/2'), { outcome: 'expired', reason: 'campaign_end' }))],
  [['outcome_unproven'], 'the last batch is erased, and its row cancelled in a campaign that nobody cancelled',
    all(without(ofBatch(3, 'spring/2/2')), data(of('recipient.outcome', 'spring/2'), { outcome: 'cancelled', reason: 'drained' }))],
  [['lines_exceeded'], 'one line allowed and two in use', campaignRules({ pacing: { ...rules.pacing, maxConcurrentCalls: 1 } })],
  [['lines_exceeded'], 'lines that a person took away', before(of('batch.planned'),
    { at: ten, type: 'campaign.adjusted', data: { to: { maxConcurrentCalls: 1 } } })],
  [['pace_exceeded'], 'one start per minute allowed and two begun', campaignRules({ pacing: { ...rules.pacing, startsPerMinute: 1 } })],
  [['retry_too_early'], 'a retry after half an hour where the delay was an hour',
    moved((event) => ofBatch(3)(event) || of('attempt.settled', 'spring/2/2')(event) || of('recipient.outcome', 'spring/2')(event),
    -30 * minuteMs)],
  [['retry_too_early'], 'a delay of ten hours is ignored', campaignRules({ retry: { ...rules.retry,
    delays: { ...rules.retry.delays, busy: [10 * hourMs] } } })],
  [['retry_too_early'], 'a retry on the same day where the next was asked for',
    campaignRules({ retry: { ...rules.retry, delays: { ...rules.retry.delays, busy: ['next_day'] } } })],
  [['cap_exceeded'], 'a second call while the first may still ring inside the cap',
    campaignRules({ caps: [{ by: 'number', calls: 1, withinMs: 65 * minuteMs }] })],
  [['cap_exceeded'], 'a call after a talk', before(ended, ...elsewhere(cy, ten + 80 * minuteMs))],
  [['budget_exceeded'], 'a second call of one', campaignRules({ retry: { ...rules.retry, maxAttempts: 1 } })],
  [['outside_hours'], 'on a holiday', campaignRules({ calendar: { hours: null, closedOn: ['2030-01-15'] } })],
  [['outside_hours'], 'a call that may ring one minute after hours',
    campaignRules({ calendar: { hours: { tue: [{ from: 600, to: 680 }] }, closedOn: [] } })],
  [['suppressed_dialled'], 'a number on the do-not-call list', before(of('batch.planned', 'spring/1/3'), suppression)],
  [['withdrawn_dialled'], 'a row that was withdrawn', before(of('batch.planned', 'spring/1/3'),
    { at: ten + 20 * minuteMs, type: 'recipient.withdrawn', recipientId: 'spring/2', data: {} },
    { at: ten + 20 * minuteMs, type: 'campaign.edited', data: { added: 0, corrected: 0, withdrawn: 1 } })],
  [['open_changed'], 'a row is changed while its call is open', before(of('recipient.outcome', 'spring/3'),
    { at: ten + 15 * minuteMs, type: 'recipient.withdrawn', recipientId: 'spring/3', data: {} },
    { at: ten + 15 * minuteMs, type: 'campaign.edited', data: { added: 0, corrected: 0, withdrawn: 1 } })],
  [['unscreened_dialled'], 'a call that the hook was not asked about', campaignRules({ preDial })],
  [['dialled_while_stopped'], 'a request while the campaign is paused',
    all(before(of('batch.posting', 'spring/1/3'), { at: ten + 70 * minuteMs, type: 'campaign.state',
    data: { from: 'running', to: 'paused' } }), data(ended, { from: 'paused' }))],
  [['caller_out_dialled'], 'a number that was taken out', before(of('batch.posting', 'spring/1/3'),
    { at: ten + 70 * minuteMs, type: 'caller.out', data: { phoneNumberId: 'pn_main' } })],
  [['reached_dialled'], 'somebody who was reached is put back in line',
    (log) => [...log, { at: ten + 3 * hourMs, type: 'recipient.retried', recipientId: 'spring/1', data: {} }]],
  [['outcome_missing'], 'a row without an outcome', without(of('recipient.outcome', 'spring/2'))],
  [['outcome_changed'], 'another outcome, and no line tells why', before(ended, outcome(2, ten + 90 * minuteMs, 'expired', 'row_expired'))],
  [['outcome_changed'], 'a call after the outcome', before(of('batch.planned', 'spring/1/3'),
    outcome(2, ten + 20 * minuteMs, 'expired', 'row_expired'))],
  [['opt_out_unlisted'], 'an opt-out that is not put on the list',
    all(data(of('attempt.settled', 'spring/1/1'), { disposition: 'opted_out' }),
    data(of('recipient.outcome', 'spring/1'), { outcome: 'opted_out' }))],
  [['illegal_change'], 'a confirmed batch is released', before(of('batch.planned', 'spring/1/3'),
    { at: ten + 20 * minuteMs, type: 'batch.state', batchId: 'spring/1/2', data: { state: 'released' } })],
  [['illegal_change'], 'a call is told of as settled twice', before(ended, settled('spring/3/1', ten + 90 * minuteMs, 'answered'))],
  [['illegal_change'], 'a second import', before(of('campaign.state'), { ...(kept[0] as Draft) })],
  [
    ['dialled_twice'],
    'a call that is placed again after its end',
    all(
      campaignRules({ caps: [], retry: { ...rules.retry, maxAttempts: 3 } }),
      data(of('recipient.outcome', 'spring/2'), { reason: null }),
      (log) => {
        const first = log.find(of('attempt.posted', 'spring/2/1')) as Draft;
        return before(ended, { ...first, at: ten + 90 * minuteMs })(log);
      },
    ),
  ],
  [['calls_overlap'], 'two campaigns call a number at the same time',
    before(of('attempt.settled', 'spring/3/1'), ...elsewhere(cy, ten + 15 * minuteMs))],
  [['log_incomplete', 'outcome_unproven'], 'a call that was never planned', without(of('attempt.planned', 'spring/3/1'))],
];

/** A campaign of one row without limits that calls the number. */
function elsewhere(number: string | undefined, at: number): Draft[] {
  const own = { ...buildRules({ caps: rules.caps }) };
  const id = (text: string) => text.replace('spring', 'autumn');
  return [
    { at, type: 'campaign.imported', data: { rows: 1, rejected: 0, rules: own } },
    { at, type: 'campaign.rows', data: { from: 1, hashes: hashes('autumn', [number]) } },
    { at, type: 'campaign.state', data: { to: 'running' } },
    ...batch(1, at, [['spring/1/1', number]]),
  ].map((event: Draft) => ({
    ...event,
    campaignId: 'autumn',
    ...(event.batchId === undefined ? {} : { batchId: id(event.batchId) }),
    ...(event.attemptId === undefined ? {} : { attemptId: id(event.attemptId) }),
    ...(event.recipientId === undefined ? {} : { recipientId: id(event.recipientId) }),
  }));
}

test('a log in which every promise was kept is proven', () => {
  expect(judge(kept)).toEqual({ violations: [], events: kept.length, calls: 4, campaigns: ['spring'] });
});

test.each(corruptions)('%j and no other: %s', (expected, _what, corrupt) => {
  expect(named(corrupt([...kept]))).toEqual(expected);
});

const rehashed = (hashed = hashes('spring', numbers, 2)) => data(of('campaign.rows'), { hashes: hashed, version: 2 });

test.each(corruptions.filter(([[rule]]) => rule === 'row_forged'))(
  '%j and no other, where all that a row says is hashed by its names: %s',
  (expected, _what, corrupt) => {
    expect(named(rehashed()([...kept]))).toEqual([]);
    expect(named(corrupt(rehashed()([...kept])))).toEqual(expected);
  },
);

test('what a row says is proven whatever its name is', () => {
  const text = `spring/2\n{"country":"US","e164":"${ben}","later":7,"regions":["NY"],"zones":["America/New_York"]}`;
  const ofBen = createHmac('sha256', key).update(text).digest().subarray(0, 8);
  const others = Buffer.from(hashes('spring', numbers, 2), 'base64url');
  const hashed = Buffer.concat([others.subarray(0, 8), ofBen, others.subarray(16)]).toString('base64url');
  const told = (later: unknown) => data(({ recipientId, type }) => type === 'attempt.posted' && recipientId === 'spring/2', { later });
  expect(named(all(rehashed(hashed), told(7))([...kept]))).toEqual([]);
  expect(named(all(rehashed(hashed), told(8))([...kept]))).toEqual(['row_forged']);
  expect(named(rehashed(hashed)([...kept]))).toEqual(['row_forged']);
});

test('every rule that the log is held to has a change that it alone names', () => {
  const alone = new Set(corruptions.flatMap(([expected]) => (expected.length === 1 ? expected : [])));
  const byTables = Object.keys(logRules).filter((rule) => /_differ|record_|list_/.test(rule));
  expect(Object.keys(logRules).filter((rule) => !alone.has(rule as LogRule))).toEqual(byTables);
});
