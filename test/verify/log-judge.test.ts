import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { LogJudge } from '../../src/verify/log-judge.ts';
import { type LogRule, logRules } from '../../src/verify/log-rules.ts';
import type { LoggedEvent } from '../../src/verify/log-types.ts';
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

function batch(n: number, at: number, calls: [attemptId: string, number: string | undefined][], round = 1): Draft[] {
  const batchId = `spring/${round}/${n}`;
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
const outcome = (row: number | string, at: number, result: string, reason: string | null = null): Draft => ({
  at,
  type: 'recipient.outcome',
  recipientId: typeof row === 'number' ? `spring/${row}` : row,
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

/** `rowKey`: null for a log whose rows have no hashes. */
function judge(log: readonly Draft[], rowKey: string | null = key) {
  const judged = new LogJudge(rowKey);
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
const houseRules = (rules: object): Draft => ({
  at: ten + 15 * minuteMs,
  campaignId: 'account',
  type: 'house.changed',
  data: { version: 1, rules },
});

const takenBack = (purpose: string): Draft => {
  const scope = `purpose:${purpose}`;
  return { campaignId: scope, at: ten, type: 'suppression.added', data: { e164: ben, scope, expiresAt: null } };
};
const suppression: Draft = {
  campaignId: 'account',
  at: ten,
  type: 'suppression.added',
  data: { e164: ben, scope: 'account', expiresAt: null },
};
const day = 24 * hourMs;
/** The campaign calls through an API that gives calls back. */
const givesBack = data(of('campaign.imported'), { api: 'campaigns' });
/** A person takes a row out while its call is open. */
const wished = (row: number): Draft[] => [
  { at: ten + 5 * minuteMs, type: 'recipient.withdrawn', recipientId: `spring/${row}`, data: { by: 'person', callOpen: true } },
  { at: ten + 5 * minuteMs, type: 'campaign.edited', data: { added: 0, corrected: 0, withdrawn: 1 } },
];
/** Ben is taken out while his first call rings, which ends as busy: he is not called again. */
const takenOut = all(
  before(of('attempt.settled', 'spring/2/1'), ...wished(2), outcome(2, ten + 5 * minuteMs, 'cancelled', 'withdrawn')),
  without(ofBatch(3, 'spring/2/2')),
  (log) => log.filter((event) => event.data?.['outcome'] !== 'exhausted'),
);

/** An operator has Ben called back; `end`: how the log tells that the promise was kept, by his second call. */
const promised = (dueAt: number, ...end: Draft[]) =>
  all(
    campaignRules({ retry: { ...rules.retry, maxAttempts: 1 }, caps: [] }),
    before(of('batch.planned', 'spring/1/3'), {
      at: ten + 20 * minuteMs,
      type: 'callback.promised',
      recipientId: 'spring/2',
      data: { promise: 'ben', dueAt, until: dueAt + 30 * minuteMs, by: 'person' },
    }),
    before(ended, ...end),
  );
const keptBy = (attemptId: string): Draft => ({
  at: ten + 75 * minuteMs,
  type: 'callback.ended',
  recipientId: 'spring/2',
  attemptId,
  data: { promise: 'ben', state: 'kept', reason: 'busy' },
});
/** Another campaign calls Ben before that, and he is busy. */
const autumnCalls = before(of('batch.planned', 'spring/1/3'), ...elsewhere(ben, ten + 40 * minuteMs), {
  ...settled('autumn/1/1', ten + 45 * minuteMs, 'busy'),
  campaignId: 'autumn',
});

/** Ana comes, and that is what the campaign is for. */
const oneIsEnough = campaignRules({ results: [{ result: 'comes', value: null, talkUnderMs: null, goal: true }], stopAt: { goal: 1 } });
const comes: Draft = { at: ten + 20 * minuteMs, type: 'attempt.result', attemptId: 'spring/1/1', data: { result: 'comes' } };
const reachesGoal = (at: number): Draft => ({ at, type: 'goal.reached', data: { goals: 1 } });

/** These rows are called first. */
const inPilot = (rows: readonly number[]) =>
  all(
    campaignRules({ pilot: { rows: rows.length, pick: 'spread', next: 'ask' } }),
    before(of('campaign.state'), { at: ten, type: 'pilot.drawn', data: { sample: 1, rows } }),
  );
const pilotOver: Draft = { at: ten + 20 * minuteMs, type: 'pilot.ended', data: { sample: 1, passed: false, readings: [] } };
const goesOn: Draft = { at: ten + 20 * minuteMs, type: 'pilot.decided', data: { sample: 1, decision: 'go_on', by: 'person' } };

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
  [['budget_exceeded'], 'attempts that a person took away', before(of('batch.planned'),
    { at: ten, type: 'campaign.adjusted', data: { to: { maxAttempts: 1 } } })],
  [['outside_hours'], 'hours that a person took away', before(of('batch.planned'),
    { at: ten, type: 'campaign.adjusted', data: { to: { hours: { mon: [{ from: 0, to: 1440 }] } } } })],
  [['retry_too_early'], 'a delay that a person made longer before the call ended', before(of('batch.planned'),
    { at: ten, type: 'campaign.adjusted', data: { to: { busy: [10 * hourMs] } } })],
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
  [['without_consent'], 'a call without the consent that the campaign asks for', campaignRules({ consent: { maxAgeMs: null } })],
  [['without_consent'], 'a call after consent was taken back for what the campaign is for',
    all(campaignRules({ purpose: 'recall' }), before(of('batch.planned', 'spring/1/3'), takenBack('recall')))],
  [['without_consent'], 'a call of a campaign that names no purpose, after consent was taken back for one',
    before(of('batch.planned', 'spring/1/3'), takenBack('recall'))],
  [[], 'a call after consent was taken back for something else',
    all(campaignRules({ purpose: 'recall' }), before(of('batch.planned', 'spring/1/3'), takenBack('marketing')))],
  [['promise_broken_early'], 'another campaign calls a number before what was promised to it',
    all(promised(ten + 60 * minuteMs, keptBy('spring/2/2')), autumnCalls)],
  [['caller_limit_exceeded'], 'a third call of a number in an hour that may make two',
    campaignRules({ callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: 2, perDay: null } } })],
  [['caller_limit_exceeded'], 'a call of a number too soon after another',
    campaignRules({ callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: null, perDay: null, spreadMs: 30 * minuteMs } } })],
  [['caller_limit_exceeded'], 'a fourth call of a number in a day that may make three',
    campaignRules({ callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: null, perDay: 3 } } })],
  [['cap_exceeded'], 'a second call to a number of which the house allows one', before(of('batch.planned', 'spring/1/3'), houseRules({ caps: [{ by: 'number', calls: 1, withinMs: 86_400_000 }] }))],
  [['outside_hours'], 'a call on a day that the house has closed', before(of('batch.planned', 'spring/1/3'), houseRules({ calendar: { hours: null, closedOn: ['2030-01-15'] } }))],
  [['caller_limit_exceeded'], 'a number that calls more often than the house allows', before(of('batch.planned', 'spring/1/3'), houseRules({ callerLimits: { perHour: 1, perDay: null } }))],
  [['house_broken'], 'a campaign that lacks what the house requires', before(of('batch.planned', 'spring/1/3'), houseRules({ requires: { consent: true, optOut: false } }))],
  [['pilot_exceeded'], 'a row that is not in the pilot', all(inPilot([1, 2]), before(of('batch.planned', 'spring/1/3'), pilotOver, goesOn))],
  [['pilot_exceeded'], 'a second call of the pilot', inPilot([1, 2, 3])],
  [['pilot_exceeded'], 'a call while a person is to decide', all(inPilot([1, 2, 3]), before(of('batch.planned', 'spring/1/3'), pilotOver))],
  [['cause_missing'], 'a pilot that passed by itself where a person was to be asked',
    all(inPilot([1, 2, 3]), before(of('batch.planned', 'spring/1/3'), { ...pilotOver, data: { sample: 1, passed: true, readings: [] } }))],
  [['illegal_change'], 'a pilot that was decided about while it was called',
    all(inPilot([1, 2, 3]), before(of('batch.planned', 'spring/1/3'), goesOn))],
  [['pilot_exceeded'], 'a call after the agent was changed, before anybody decided anew', all(inPilot([1, 2, 3]), before(of('batch.planned', 'spring/1/3'), { at: ten + 20 * minuteMs, type: 'pilot.voided', data: { sample: 1 } }))],
  [['illegal_change'], 'an end of a pilot that nobody calls', before(ended, { ...pilotOver, at: ten + 80 * minuteMs })],
  [['goal_exceeded'], 'a call after the goal',
    all(oneIsEnough, before(of('batch.planned', 'spring/1/3'), comes, reachesGoal(ten + 20 * minuteMs)))],
  [['log_incomplete'], 'a goal that was reached, and that nothing tells of', all(oneIsEnough, before(ended, { ...comes, at: ten + 80 * minuteMs }))],
  [['cause_missing'], 'a goal that is told of, and was not reached', before(ended, reachesGoal(ten + 80 * minuteMs))],
  [['outcome_unproven'], 'a row that is spared for a goal that was not reached',
    all(without(ofBatch(3, 'spring/2/2')), data(of('recipient.outcome', 'spring/2'), { outcome: 'cancelled', reason: 'goal_reached' }))],
  [['promise_lost'], 'a promise of which nobody tells the end', promised(ten + 60 * minuteMs)],
  [['promise_lost'], 'a promise that counts as kept, and was called after its time',
    promised(ten + 30 * minuteMs, keptBy('spring/2/2'))],
  [['promise_lost'], 'a promise that counts as kept by a call of another row', promised(ten + 60 * minuteMs, keptBy('spring/3/1'))],
  [['withdrawn_dialled'], 'a row that was withdrawn', before(of('batch.planned', 'spring/1/3'),
    { at: ten + 20 * minuteMs, type: 'recipient.withdrawn', recipientId: 'spring/2', data: {} },
    { at: ten + 20 * minuteMs, type: 'campaign.edited', data: { added: 0, corrected: 0, withdrawn: 1 } })],
  [['open_changed'], 'a row is changed while its call is open', before(of('recipient.outcome', 'spring/3'),
    { at: ten + 15 * minuteMs, type: 'recipient.withdrawn', recipientId: 'spring/3', data: {} },
    { at: ten + 15 * minuteMs, type: 'campaign.edited', data: { added: 0, corrected: 0, withdrawn: 1 } })],
  [['open_changed'], 'a row is withdrawn with its open call, which the contract gives not back', takenOut],
  [['withdrawn_dialled'], 'a row that was withdrawn with its open call', all(givesBack,
    before(of('attempt.settled', 'spring/2/1'), ...wished(2)))],
  [['log_incomplete'], 'a row is withdrawn with an open call that there is not', all(givesBack,
    before(of('batch.planned', 'spring/1/2'), ...wished(1)))],
  [['outcome_unproven'], 'a row that nobody withdrew ends as withdrawn', all(givesBack, takenOut,
    without(of('recipient.withdrawn'), of('campaign.edited')))],
  [['unscreened_dialled'], 'a call that the hook was not asked about', campaignRules({ preDial })],
  [['dialled_while_stopped'], 'a request while the campaign is paused',
    all(before(of('batch.posting', 'spring/1/3'), { at: ten + 70 * minuteMs, type: 'campaign.state',
    data: { from: 'running', to: 'paused' } }), data(ended, { from: 'paused' }))],
  [['caller_out_dialled'], 'a number that was taken out', before(of('batch.posting', 'spring/1/3'),
    { at: ten + 70 * minuteMs, type: 'caller.out', data: { phoneNumberId: 'pn_main' } })],
  [['reached_dialled'], 'somebody who was reached is put back in line',
    (log) => [...log, { at: ten + 3 * hourMs, type: 'recipient.retried', recipientId: 'spring/1', data: {} }]],
  [['outcome_missing'], 'a row without an outcome', without(of('recipient.outcome', 'spring/2'))],
  [['outcome_changed'], 'another outcome, and no line says why', before(ended, outcome(2, ten + 90 * minuteMs, 'expired', 'row_expired'))],
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

test('a promise that was kept in its time is proven', () => {
  expect(named(promised(ten + 60 * minuteMs, keptBy('spring/2/2'))([...kept]))).toEqual([]);
});

test('a row that is withdrawn with its open call ends with that call, where the service gives calls back', () => {
  expect(named(all(givesBack, takenOut)([...kept]))).toEqual([]);
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
  const byTables = Object.keys(logRules).filter((rule) => /_differ|record_|list_|service_/.test(rule));
  expect(Object.keys(logRules).filter((rule) => !alone.has(rule as LogRule))).toEqual(byTables);
});

const officeDay = [{ from: 9 * 60, to: 17 * 60 }];
const loose = buildRules({
  calendar: { hours: { tue: officeDay, wed: officeDay }, closedOn: ['2030-01-16'] },
  endsAt: ten + 30 * hourMs,
  caps: [
    { by: 'number', calls: 2, withinMs: 80 * minuteMs },
    { by: 'person', calls: 1, withinMs: hourMs },
    { by: 'number', afterTalkMs: 10 * hourMs },
  ],
  retry: { ...buildRules().retry, maxAttempts: 2 },
});

/** Three rows, one of them rejected: Ana is reached at once, Ben at the second attempt. */
const plain: readonly Draft[] = [
  { at: ten, type: 'campaign.imported', data: { hash: 'x', rows: 3, rejected: 1, rules: loose } },
  { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
  { at: ten, type: 'round.started', data: { round: 1 } },
  ...batch(1, ten, [
    ['spring/1/1', ana],
    ['spring/2/1', ben],
  ]),
  settled('spring/1/1', ten + 5 * minuteMs, 'answered'),
  outcome('spring/1', ten + 5 * minuteMs, 'completed'),
  settled('spring/2/1', ten + 5 * minuteMs, 'busy'),
  ...batch(2, ten + hourMs, [['spring/2/2', ben]]),
  settled('spring/2/2', ten + hourMs + minuteMs, 'answered'),
  outcome('spring/2', ten + hourMs + minuteMs, 'completed'),
  { at: ten + 2 * hourMs, type: 'campaign.state', data: { from: 'running', to: 'completed' } },
  { at: ten + 2 * hourMs, type: 'round.ended', data: { round: 1 } },
];

const judgePlain = (log: readonly Draft[]) => judge(log, null);
const brokenBy = (log: readonly Draft[]): string[] => judgePlain(log).violations.map(({ rule }) => rule);

const at = (type: string, nth = 0): number => plain.flatMap((event, index) => (event.type === type ? [index] : []))[nth] ?? -1;

/** The log with the event there changed. */
function changed(index: number, change: (event: Draft) => Draft): Draft[] {
  return plain.map((event, position) => (position === index ? change(event) : event));
}

function inserted(index: number, ...events: Draft[]): Draft[] {
  return plain.toSpliced(index, 0, ...events);
}

function dropped(...indexes: number[]): Draft[] {
  return plain.filter((_, position) => !indexes.includes(position));
}

const callerEvent = (type: 'caller.out' | 'caller.in'): Draft => ({
  at: ten + hourMs,
  type,
  data: { phoneNumberId: 'pn_main' },
});
const withData =
  (data: Record<string, unknown>) =>
  (event: Draft): Draft => ({ ...event, data: { ...event.data, ...data } });
const repeated: Draft = { at: ten + 2, type: 'batch.posting', batchId: 'spring/1/1', data: { k: 2, size: 2 } };
const notSent: Draft[] = [
  { at: ten + 1, type: 'post.verdict', batchId: 'spring/1/1', data: { k: 1, verdict: 'not_sent', status: 429 } },
  { at: ten + 1, type: 'batch.state', batchId: 'spring/1/1', data: { state: 'not_sent' } },
];
const verdict = at('post.verdict');
const secondDial = at('attempt.posted', 2);

test('a log in which every promise was kept is proven, and what there was to judge is counted', () => {
  expect(judgePlain(plain)).toEqual({ violations: [], events: plain.length, calls: 3, campaigns: ['spring'] });
});

test('whoever looks at a row or its calls, whenever that is, breaks no promise', () => {
  // As it is written: the outcome, and then the end of the call that brings it.
  const [end, brought] = [at('attempt.settled'), at('recipient.outcome')];
  const written = plain.toSpliced(end, 2, ...[plain[brought], plain[end]].filter((event) => event !== undefined));
  const looked = { type: 'operator.acted', recipientId: 'spring/1', attemptId: 'spring/1/1', data: {} } as const;
  expect(brokenBy(written)).toEqual([]);
  expect(brokenBy(written.flatMap((event) => [event, { ...looked, at: event.at }]))).toEqual([]);
});

const edit = (type: LoggedEvent['type'], row: number, data: Record<string, unknown> = {}, at = ten + 30 * minuteMs): Draft => ({
  at,
  type,
  recipientId: `spring/${row}`,
  data,
});
const edited = (added: number, corrected: number, withdrawn: number): Draft => ({
  at: ten + 30 * minuteMs,
  type: 'campaign.edited',
  data: { added, corrected, withdrawn },
});
/** While the second call to Ben is open. */
const whileOpen = at('attempt.settled', 2);
const between = at('batch.planned', 1);

// prettier-ignore
const editCorruptions: [rule: LogRule, what: string, log: Draft[]][] = [
  ['open_changed', 'a row corrected while its call is open', inserted(whileOpen, edit('recipient.corrected', 2))],
  ['open_changed', 'a row corrected while its call is planned', inserted(at('batch.posting', 1), edit('recipient.corrected', 2),
    edited(0, 1, 0))],
  ['withdrawn_dialled', 'a call to a withdrawn row that a retry put back',
    inserted(between, edit('recipient.withdrawn', 2), edited(0, 0, 1), outcome('spring/2', ten, 'cancelled'),
    edit('recipient.retried', 2, { outcome: 'cancelled' }))],
  ['reached_dialled', 'a row corrected after it was reached', inserted(between, edit('recipient.corrected', 1, { outcome: 'completed' }),
    edited(0, 1, 0))],
  ['outcome_missing', 'a row that was added and has no outcome', inserted(between, edit('recipient.added', 4), edited(1, 0, 0))],
  ['outcome_missing', 'a rejected row that was corrected and has no outcome',
    inserted(between, edit('recipient.corrected', 3, { outcome: 'rejected' }), edited(0, 1, 0))],
  ['log_incomplete', 'a number of changes that was never told', inserted(between, edit('recipient.corrected', 2))],
  ['log_incomplete', 'changes that are told and not there', inserted(between, edited(0, 1, 0))],
  ['log_incomplete', 'a correction of an outcome that there was not',
    inserted(between, edit('recipient.corrected', 2, { outcome: 'undialable' }), edited(0, 1, 0))],
  ['log_incomplete', 'more rejected rows corrected than there were',
    inserted(between, edit('recipient.corrected', 3, { outcome: 'rejected' }), edit('recipient.corrected', 4, { outcome: 'rejected' }),
    edited(0, 2, 0))],
];

function marked(screened: string | null) {
  return (event: Draft): Draft => (event.type === 'attempt.posted' ? withData({ screened })(event) : event);
}

/** The log as it is with a pre-dial hook that allows every call. */
function asking(log: readonly Draft[]): Draft[] {
  return log.map(marked('eligible')).flatMap((event) => {
    if (event.type === 'campaign.imported') return [withData({ rules: { ...loose, preDial } })(event)];
    if (event.type !== 'batch.planned') return [event];
    const { batchId = '', at } = event;
    const ids = log.flatMap((other) => (other.type === 'attempt.posted' && other.batchId === batchId ? [other.attemptId] : []));
    return [event, { at, type: 'batch.screened', batchId, data: { asked: ids.length, refused: 0, later: 0, eligible: ids } }];
  });
}

/** A campaign `autumn` without caps that calls Ben, who is busy. */
const inAutumn = (when: number, more: Record<string, unknown> = {}): Draft[] =>
  [
    { at: when, type: 'campaign.imported', data: { rows: 2, rejected: 1, rules: { ...loose, caps: [] } } },
    { at: when, type: 'campaign.state', data: { to: 'running' } },
    ...data(of('attempt.posted'), more)(batch(1, when, [['autumn/1/1', ben]])),
    settled('autumn/1/1', when + minuteMs, 'busy'),
    outcome('autumn/1', when + minuteMs, 'exhausted'),
  ].map((event) => ({ ...event, campaignId: 'autumn' }));

/** The log in the order in which a database has it: an outcome stands before the end of the call that brings it. */
const written: readonly Draft[] = plain.map((event, index) => {
  if (event.type === 'recipient.outcome') return plain[index - 1] ?? event;
  const next = plain[index + 1];
  return event.type === 'attempt.settled' && next?.type === 'recipient.outcome' ? next : event;
});
const isOutcomeOf = (row: string) => (event: Draft) => event.type === 'recipient.outcome' && event.recipientId === row;
const isEndOf = (attemptId: string) => (event: Draft) => event.type === 'attempt.settled' && event.attemptId === attemptId;

/** The log with the events there changed. */
function rewritten(which: (event: Draft) => boolean, change: (event: Draft) => Draft): Draft[] {
  return written.map((event) => (which(event) ? change(event) : event));
}

const later = written.findIndex((event) => event.batchId === 'spring/1/2');
/** Ben is not reached by both calls. */
const usedUp = rewritten(isEndOf('spring/2/2'), withData({ disposition: 'busy' })).map((event) =>
  isOutcomeOf('spring/2')(event) ? withData({ outcome: 'exhausted', reason: 'attempts_used_up' })(event) : event,
);
const optedOut = rewritten(isEndOf('spring/1/1'), withData({ disposition: 'opted_out' })).map((event) =>
  isOutcomeOf('spring/1')(event) ? withData({ outcome: 'opted_out' })(event) : event,
);
const listed = (data: Record<string, unknown>): Draft[] =>
  optedOut.flatMap((event) =>
    isEndOf('spring/1/1')(event)
      ? [event, { at: event.at, type: 'suppression.added', attemptId: 'spring/1/1', data: { e164: ana, ...data } }]
      : [event],
  );
const isOfBatch = (batchId: string, attemptIds: readonly string[]) => (event: Draft) =>
  event.batchId === batchId || attemptIds.includes(event.attemptId ?? '');

/** Single changes of a clean log, and the line that has to be named. */
// prettier-ignore
const outcomeCorruptions: [rule: LogRule, what: string, log: Draft[], line: (event: Draft) => boolean][] = [
  ['outcome_changed', 'a second outcome', [...usedUp, outcome('spring/2', ten + 2 * hourMs, 'cancelled')],
    ({ data }) => data?.['outcome'] === 'cancelled'],
  ['outcome_changed', 'somebody who was reached and is exhausted later',
    written.toSpliced(later, 0, outcome('spring/1', ten + 30 * minuteMs, 'exhausted')), ({ data }) => data?.['outcome'] === 'exhausted'],
  ['outcome_changed', 'the same outcome twice', written.toSpliced(later, 0, outcome('spring/1', ten + 30 * minuteMs, 'completed')),
    (event) => isOutcomeOf('spring/1')(event) && event.at === ten + 30 * minuteMs],
  ['outcome_changed', 'an outcome that is taken back for no reason',
    [...usedUp, { at: ten + 2 * hourMs, type: 'recipient.outcome', recipientId: 'spring/2', data: { outcome: null } }],
    ({ data }) => data?.['outcome'] === null],
  ['log_incomplete', 'an outcome that is taken back and was never there',
    written.toSpliced(later, 0, { at: ten + 2 * hourMs, type: 'recipient.outcome', recipientId: 'spring/2', data: { outcome: null } }),
    ({ data }) => data?.['outcome'] === null],
  ['outcome_missing', 'an outcome of a row that there is not, in place of one that there is',
    rewritten(isOutcomeOf('spring/2'), (event) => ({ ...event, recipientId: 'spring/99' })), isOutcomeOf('spring/99')],
  ['outcome_unproven', 'an outcome of a rejected row, in place of one that was called',
    rewritten(isOutcomeOf('spring/2'), (event) => ({ ...event, recipientId: 'spring/3' })), isOutcomeOf('spring/3')],
  ['outcome_unproven', 'attempts used up although the call was answered',
    rewritten(isOutcomeOf('spring/1'), withData({ outcome: 'exhausted' })), isOutcomeOf('spring/1')],
  ['outcome_unproven', 'attempts used up although the last call was answered',
    rewritten(isOutcomeOf('spring/2'), withData({ outcome: 'exhausted' })), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'cancelled although the call was answered', rewritten(isOutcomeOf('spring/1'), withData({ outcome: 'cancelled' })),
    isOutcomeOf('spring/1')],
  ['outcome_unproven', 'completed although no call was answered', rewritten(isEndOf('spring/2/2'), withData({ disposition: 'busy' })),
    isOutcomeOf('spring/2')],
  ['outcome_unproven', 'opted out although nobody said so', rewritten(isOutcomeOf('spring/1'), withData({ outcome: 'opted_out' })),
    isOutcomeOf('spring/1')],
  ['outcome_unproven', 'unresolved although the end of the call is known',
    usedUp.map((event) => (isOutcomeOf('spring/2')(event) ? withData({ outcome: 'unresolved' })(event) : event)), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'completed, and the batch with the call is not there',
    written.filter((event) => !isOfBatch('spring/1/2', ['spring/2/2'])(event)), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'attempts used up, and the batch with the last is not there',
    usedUp.filter((event) => !isOfBatch('spring/1/2', ['spring/2/2'])(event)), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'attempts used up, and none of them is there',
    usedUp.filter((event) => !isOfBatch('spring/1/2', ['spring/2/1',
    'spring/2/2'])(event)).map((event) => (isOutcomeOf('spring/2')(event) ? withData({ reason: null })(event) : event)),
    isOutcomeOf('spring/2')],
  ['outcome_unproven', 'no retry after an end that no call had', usedUp.map((event) =>
    isOutcomeOf('spring/2')(event) ? withData({ reason: 'no_retry_after_voicemail' })(event) : event), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'completed long before a late record shows an answered call',
    [...plain.map((event) => (isEndOf('spring/2/2')(event) ? withData({ disposition: 'busy' })(event) : event)),
    { at: ten + 3 * hourMs, type: 'attempt.corrected', attemptId: 'spring/2/2', data: { disposition: 'answered', counted: true } }],
    isOutcomeOf('spring/2')],
  ['log_incomplete', 'a batch that is missing before another', written.filter((event) => !isOfBatch('spring/1/1',
    ['spring/1/1', 'spring/2/1'])(event)), ({ type, batchId }) => type.endsWith('.planned') && batchId === 'spring/1/2'],
  ['log_incomplete', 'a call that is missing before another of its row',
    written.filter((event) => !isOfBatch('', ['spring/2/1'])(event)).map((event) =>
    event.batchId === 'spring/1/1' && 'size' in (event.data ?? {}) ? withData({ size: 1 })(event) : event),
    ({ type, attemptId }) => type === 'attempt.planned' && attemptId === 'spring/2/2'],
  ['log_incomplete', 'a call to a row that there is not', written.toSpliced(later, 0,
    ...batch(1, ten + 30 * minuteMs, [['spring/4/1', '+12125550102']], 2), settled('spring/4/1', ten + 31 * minuteMs, 'busy')),
    ({ type, attemptId }) => type === 'attempt.planned' && attemptId === 'spring/4/1'],
  ['opt_out_unlisted', 'an opt-out that is not put on the list', optedOut, isEndOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out that is put on the list of one campaign', listed({ scope: 'spring' }), isEndOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out that is put on the list for a time', listed({ scope: 'account', expiresAt: ten + 24 * hourMs }),
    isEndOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out for which another number is put on the list', listed({ scope: 'account', e164: ben }),
    isEndOf('spring/1/1')],
  ['reached_dialled', 'a call after one that was answered, whose outcome is not told',
    written.toSpliced(later, 0, ...batch(1, ten + 30 * minuteMs, [['spring/1/2', ana]], 2),
    settled('spring/1/2', ten + 31 * minuteMs, 'busy')).filter((event) => !isOutcomeOf('spring/1')(event)),
    ({ type, attemptId }) => type === 'attempt.posted' && attemptId === 'spring/1/2'],
];

test.each(outcomeCorruptions)('the line is named: %s, %s', (rule, _what, log, line) => {
  const named = judgePlain(log).violations.flatMap(({ rule: broken, seq }) => (broken === rule && seq !== null ? [seq] : []));
  expect(log.flatMap((event, index) => (line(event) ? [index + 1] : []))).toEqual(named);
});

test('a row that was called and has no outcome is named, also where a rejected one has it', () => {
  const swapped = rewritten(isOutcomeOf('spring/2'), (event) => ({
    ...event,
    recipientId: 'spring/3',
    data: { outcome: 'expired' },
  }));
  expect(judgePlain(swapped).violations.map(({ rule, what }) => [rule, what])).toEqual([
    ['outcome_missing', 'spring/2 was to be called and has no outcome'],
  ]);
});

test('who was put back in line after the end waits for the next round, and has an outcome when that has ended', () => {
  const evening = ten + 3 * hourMs;
  const retried: Draft[] = [...usedUp, { at: evening, type: 'recipient.retried', recipientId: 'spring/2', data: { outcome: 'exhausted' } }];
  expect(brokenBy(retried)).toEqual([]);
  const rounds: Draft[] = [
    { at: evening, type: 'campaign.state', data: { to: 'running' } },
    { at: evening, type: 'campaign.state', data: { to: 'completed' } },
    { at: evening, type: 'round.ended', data: { round: 2 } },
  ];
  expect(brokenBy([...retried, ...rounds])).toEqual(['outcome_missing']);
});

test('an outcome may change with what is heard of its calls, and by the word of a person', () => {
  expect(brokenBy(written)).toEqual([]);
  expect(brokenBy(usedUp)).toEqual([]);
  expect(brokenBy(listed({ scope: 'account' }))).toEqual([]);
  const late = ten + 3 * hourMs;
  const told = (outcomeNow: string | null, reason: string | null = null): Draft => ({
    at: late,
    type: 'recipient.outcome',
    recipientId: 'spring/2',
    data: { outcome: outcomeNow, reason },
  });
  const corrected = (disposition: string): Draft => ({
    at: late,
    type: 'attempt.corrected',
    attemptId: 'spring/2/2',
    data: { disposition, counted: true },
  });
  const unresolved = usedUp.map((event) =>
    isEndOf('spring/2/2')(event)
      ? withData({ disposition: 'unknown' })(event)
      : isOutcomeOf('spring/2')(event)
        ? withData({ outcome: 'unresolved', reason: 'unknown' })(event)
        : event,
  );
  const legal: [what: string, log: Draft[]][] = [
    ['a late record shows an answered call', [...usedUp, told('completed', 'answered'), corrected('answered')]],
    ['a late record shows that nobody answered', [...written, told('exhausted', 'attempts_used_up'), corrected('busy')]],
    ['it shows another kind of talk', [...written, told('completed', 'silent'), corrected('answered')]],
    ['a call is planned again for a late record', [...written, told(null), corrected('voicemail')]],
    ['a person gives up', [...unresolved, told('unresolved', 'given_up')]],
    ['a person has somebody redialled', [...unresolved, told(null)]],
    // Logs of the first schema do not tell that an outcome was taken back.
    ['an outcome was taken back in silence', [...usedUp, corrected('voicemail'), told('expired', 'row_expired')]],
  ];
  for (const [what, log] of legal) expect(judgePlain(log).violations, what).toEqual([]);
});

test('attempts of other campaigns to the number may have used up its budget', () => {
  const shared = { ...loose, retry: { ...loose.retry, maxAttemptsPerNumber: 1 } };
  const log: Draft[] = [
    { at: ten, type: 'campaign.imported', data: { rows: 1, rejected: 0, rules: shared } },
    outcome('spring/1', ten, 'exhausted'),
  ];
  expect(brokenBy(log)).toEqual([]);
});

// prettier-ignore
const plainCorruptions: [rule: LogRule, what: string, log: Draft[]][] = [
  ['dialled_twice', 'a second request after one whose fate is unknown', plain.toSpliced(verdict, 0, { ...repeated })],
  ['calls_overlap', 'a second call while the first is open', dropped(at('attempt.settled', 1))],
  ['outside_hours', 'before the window opens', changed(at('attempt.posted'), (event) => ({ ...event, at: ten - 2 * hourMs }))],
  ['outside_hours', 'within the margin before it closes', changed(secondDial, (event) => ({ ...event, at: ten + 6.9 * hourMs }))],
  ['outside_hours', 'on the holiday of the next day', changed(secondDial, (event) => ({ ...event, at: ten + 24 * hourMs }))],
  ['outside_hours', 'after the end of the campaign', changed(secondDial, (event) => ({ ...event, at: ten + 7 * 24 * hourMs }))],
  ['outside_hours', 'in a zone where it is night', changed(secondDial, withData({ zones: ['America/New_York', 'Asia/Tokyo'] }))],
  ['suppressed_dialled', 'a number on the list of this campaign',
    inserted(between, { ...suppression, campaignId: 'spring', data: { ...suppression.data, scope: 'spring' } })],
  ['cap_exceeded', 'a third call to the number within eighty minutes, the second by another campaign',
    inserted(between, ...inAutumn(ten + 30 * minuteMs))],
  ['cap_exceeded', 'a second call to the person within the hour, at another number',
    inserted(between, ...inAutumn(ten + 30 * minuteMs, { e164: '+12125550177', person: 'b' }))
      .map((event) => (of('attempt.posted', 'spring/2/2')(event) ? withData({ person: 'b' })(event) : event))],
  ['cap_exceeded', 'a call an hour after a talk', changed(at('attempt.settled', 1), withData({ disposition: 'answered' }))],
  ['reached_dialled', 'a call after the goal was reached', inserted(at('campaign.state', 1),
    ...batch(3, ten + 1.5 * hourMs, [['spring/1/2', ana]]), settled('spring/1/2', ten + 1.6 * hourMs, 'busy'))],
  ['unscreened_dialled', 'a batch that the pre-dial hook was not asked about', asking(dropped(at('batch.planned')))],
  ['unscreened_dialled', 'a call whose mark is missing', asking(plain).map(marked(null))],
  ['unscreened_dialled', 'a call that the pre-dial hook did not allow',
    asking(plain).map((event) => (event.type === 'batch.screened' ? withData({ eligible: ['spring/9/1'] })(event) : event))],
  ['unscreened_dialled', 'a call that was allowed too long before',
    asking(plain).map((event) => (event.type === 'batch.screened' ? { ...event, at: event.at - 16 * minuteMs } : event))],
  ['outcome_missing', 'a row that the list did not have', inserted(at('campaign.state', 1), outcome(9, ten, 'cancelled'))],
  ['illegal_change', 'a completed campaign that is paused', [...plain, { at: ten, type: 'campaign.state', data: { to: 'paused' } }]],
  ['log_incomplete', 'a batch that was never planned', dropped(at('batch.planned', 1))],
  ['log_incomplete', 'an end without a call', inserted(at('campaign.state', 1), settled('spring/7/1', ten, 'busy'))],
  ['log_incomplete', 'a call without an end', dropped(at('attempt.settled'))],
  ['log_incomplete', 'a campaign without its import', dropped(0)],
  ['log_incomplete', 'a verdict of a request that was never begun', changed(verdict, withData({ k: 2 }))],
  ['log_incomplete', 'a call of which the place is missing',
    changed(secondDial, ({ data: _data, ...event }) => ({ ...event, data: { k: 1, e164: ben } }))],
  ...editCorruptions,
  ...outcomeCorruptions.map(([rule, what, log]): [LogRule, string, Draft[]] => [rule, what, log]),
];

test('a number that has been taken in again may call', () => {
  const log = inserted(at('batch.posting', 1), callerEvent('caller.out'), callerEvent('caller.in'));
  expect(brokenBy(log)).toEqual([]);
});

test('calls that the pre-dial hook allowed are no violation', () => {
  expect(brokenBy(asking(plain))).toEqual([]);
});

test.each(plainCorruptions)('%s: %s is found', (rule, _what, log) => {
  expect(brokenBy(log)).toContain(rule);
});

test('events that stand in another order than their numbers are found', () => {
  const log = new LogJudge();
  for (const seq of [1, 2, 2]) log.take({ seq, campaignId: 'spring', ...plain[Math.min(seq, 2) - 1] } as LoggedEvent);
  expect(log.finish().violations.map(({ rule, seq }) => [rule, seq])).toContainEqual(['log_incomplete', 2]);
});

test('what is allowed is no violation', () => {
  const rerun = [
    ...notSent,
    ...batch(1, ten + 1, [
      ['spring/1/1', ana],
      ['spring/2/1', ben],
    ]).slice(3),
  ].map((event) =>
    event.type === 'batch.posting' || event.type === 'attempt.posted' || event.type === 'post.verdict'
      ? withData({ k: event.at === ten + 1 && event.data?.['verdict'] === 'not_sent' ? 1 : 2 })(event)
      : event,
  );
  // A request that was proven to have queued nothing is repeated.
  expect(brokenBy(plain.toSpliced(verdict, 2, ...rerun))).toEqual([]);
  // A row that was not reached gets a budget anew, and a late correction of the old one has no bearing on it.
  const exhausted = plain.map((event) =>
    event.recipientId === 'spring/2' && event.type === 'recipient.outcome'
      ? withData({ outcome: 'exhausted' })(event)
      : event.attemptId === 'spring/2/2' && event.type === 'attempt.settled'
        ? withData({ disposition: 'busy' })(event)
        : event,
  );
  const again: Draft[] = [
    { at: ten + 3 * hourMs, type: 'recipient.retried', recipientId: 'spring/2', data: { outcome: 'exhausted' } },
    { at: ten + 3 * hourMs, type: 'campaign.state', data: { to: 'running' } },
    ...batch(3, ten + 3 * hourMs, [['spring/2/3', ben]]),
    settled('spring/2/3', ten + 3.1 * hourMs, 'busy'),
    {
      at: ten + 3.1 * hourMs,
      type: 'attempt.corrected',
      attemptId: 'spring/2/2',
      data: { disposition: 'busy', counted: true },
    },
    ...batch(4, ten + 4.5 * hourMs, [['spring/2/4', ben]]),
    settled('spring/2/4', ten + 4.6 * hourMs, 'busy'),
    outcome('spring/2', ten + 4.6 * hourMs, 'exhausted'),
  ];
  expect(brokenBy([...exhausted, ...again])).toEqual([]);
  const fifth = [...batch(5, ten + 4.9 * hourMs, [['spring/2/5', ben]]), settled('spring/2/5', ten + 5 * hourMs, 'busy')];
  expect(brokenBy([...exhausted, ...again, ...fifth])).toContain('budget_exceeded');
  // Rows are added, corrected and withdrawn, and one that is rejected or withdrawn comes back.
  const [, , cy, dan] = [ana, ben, '+12125550102', '+12125550103'];
  const more: Draft[] = [
    edit('recipient.added', 4),
    edit('recipient.corrected', 3, { outcome: 'rejected' }),
    edit('recipient.corrected', 2, { outcome: null }),
    edited(1, 2, 0),
    edit('recipient.withdrawn', 4),
    edited(0, 0, 1),
    outcome('spring/4', ten + 30 * minuteMs, 'cancelled'),
    edit('recipient.corrected', 4, { outcome: 'cancelled' }),
    edited(0, 1, 0),
    ...batch(
      1,
      ten + 40 * minuteMs,
      [
        ['spring/3/1', cy],
        ['spring/4/1', dan],
      ],
      2,
    ),
    ...['spring/3', 'spring/4'].flatMap((row) => [
      settled(`${row}/1`, ten + 45 * minuteMs, 'answered'),
      outcome(row, ten + 45 * minuteMs, 'completed'),
    ]),
  ];
  expect(brokenBy(inserted(between, ...more))).toEqual([]);
  // A number that does not exist is corrected, and called with a budget of its own.
  const undialable: Draft[] = [
    ...exhausted.filter(({ type }) => type !== 'round.ended' && type !== 'campaign.state').slice(0, -1),
    outcome('spring/2', ten + hourMs + minuteMs, 'undialable'),
    edit('recipient.corrected', 2, { outcome: 'undialable', numberChanged: true }, ten + hourMs + minuteMs),
    { ...edited(0, 1, 0), at: ten + hourMs + minuteMs },
  ];
  const running = undialable.toSpliced(1, 0, { at: ten, type: 'campaign.state', data: { to: 'running' } });
  const another = [...batch(3, ten + 3 * hourMs, [['spring/2/3', dan]]), settled('spring/2/3', ten + 4 * hourMs, 'busy')];
  expect(brokenBy([...running, ...another])).toEqual([]);
  // With its number as it was it has what was left.
  const sameNumber = [...running, ...another].map((event) =>
    event.type === 'recipient.corrected' ? withData({ numberChanged: false })(event) : event,
  );
  expect(brokenBy(sameNumber)).toEqual(['budget_exceeded']);
  // An entry that was over, and one that was taken off again.
  const over = { ...suppression, data: { ...suppression.data, expiresAt: ten + minuteMs } };
  expect(brokenBy(inserted(at('batch.planned', 1), over))).toEqual([]);
  const removed: Draft = { ...suppression, type: 'suppression.removed', data: { e164: ben, scope: 'account' } };
  expect(brokenBy(inserted(at('batch.planned', 1), suppression, removed))).toEqual([]);
  // A call that the caps allow again.
  const earlier = inserted(at('batch.planned'), ...inAutumn(ten - 23.5 * hourMs)).filter(({ at: when }) => when > 0);
  expect(judgePlain(earlier).violations.filter(({ campaignId }) => campaignId === 'spring')).toEqual([]);
  // A correction gives an attempt back.
  const corrected: Draft = {
    at: ten + hourMs + minuteMs,
    type: 'attempt.corrected',
    attemptId: 'spring/2/1',
    data: { disposition: 'failed', counted: false },
  };
  const third = [...batch(3, ten + 1.5 * hourMs, [['spring/2/3', ben]]), settled('spring/2/3', ten + 1.6 * hourMs, 'answered')];
  const tried = inserted(at('recipient.outcome', 1), corrected, ...third).map((event) =>
    event.attemptId === 'spring/2/2' && event.type === 'attempt.settled'
      ? withData({ disposition: 'busy' })(event)
      : event.type === 'recipient.outcome' && event.recipientId === 'spring/2'
        ? { ...event, at: ten + 1.6 * hourMs }
        : event,
  );
  expect(brokenBy(tried)).toEqual([]);
});

test('budgets of numbers and renewed budgets are judged by when their attempts were', () => {
  const long = { calendar: { hours: null, closedOn: [] }, caps: [], endsAt: null };
  const withRetry = (retry: object): Draft[] => {
    const own = buildRules({ ...long, retry });
    return [
      { at: ten, type: 'campaign.imported', data: { hash: 'x', rows: 2, rejected: 0, rules: own } },
      { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
    ];
  };
  const call = (n: number, at: number): Draft[] => [
    ...batch(n, at, [[`spring/2/${n}`, ben]]),
    settled(`spring/2/${n}`, at + minuteMs, 'busy'),
  ];
  const renewed = { maxAttempts: 2, resetAfterMs: 24 * hourMs };
  const twice = [...withRetry(renewed), ...call(1, ten), ...call(2, ten + hourMs)];
  expect(brokenBy([...twice, ...call(3, ten + 24 * hourMs)])).toEqual([]);
  const early = judgePlain([...twice, ...call(3, ten + 24 * hourMs - 1)]).violations;
  expect(early.map(({ rule }) => rule)).toEqual(['budget_exceeded']);

  const autumn = (drafts: Draft[]): Draft[] =>
    drafts.map((draft) => ({
      ...draft,
      campaignId: 'autumn',
      ...(draft.batchId === undefined ? {} : { batchId: draft.batchId.replace('spring', 'autumn') }),
      ...(draft.attemptId === undefined ? {} : { attemptId: draft.attemptId.replace('spring', 'autumn') }),
      ...(draft.recipientId === undefined ? {} : { recipientId: draft.recipientId.replace('spring', 'autumn') }),
    }));
  const shared = { maxAttempts: 2, maxAttemptsPerNumber: 2 };
  const both = [...withRetry(shared), ...autumn(withRetry(shared)), ...call(1, ten), ...autumn(call(1, ten + hourMs))];
  expect(brokenBy(both)).toEqual([]);
  expect(brokenBy([...both, ...call(2, ten + 2 * hourMs)])).toEqual(['budget_exceeded']);
  const uncounted: Draft = {
    at: ten + hourMs + 2 * minuteMs,
    type: 'attempt.corrected',
    attemptId: 'autumn/2/1',
    campaignId: 'autumn',
    data: { disposition: 'failed', counted: false },
  };
  expect(brokenBy([...both, uncounted, ...call(2, ten + 2 * hourMs)])).toEqual([]);
});

test('a call before the start of the campaign, or too near to the end of its row, is told', () => {
  const begin = (startsAt: number | null, posted: object): Draft[] => [
    {
      at: ten,
      type: 'campaign.imported',
      data: { hash: 'x', rows: 2, rejected: 0, rules: buildRules({ startsAt }) },
    },
    { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
    ...batch(1, ten + hourMs, [['spring/2/1', ben]]).map((event) =>
      event.type === 'attempt.posted' ? { ...event, data: { ...event.data, ...posted } } : event,
    ),
    settled('spring/2/1', ten + hourMs + minuteMs, 'busy'),
  ];
  expect(brokenBy(begin(ten + hourMs, { expiresAt: ten + 2 * hourMs }))).toEqual([]);
  expect(brokenBy(begin(ten + hourMs + 1, {}))).toEqual(['outside_hours']);
  expect(brokenBy(begin(null, { expiresAt: ten + hourMs + 10 * minuteMs }))).toEqual(['outside_hours']);
  expect(brokenBy(begin(null, { expiresAt: ten + hourMs + 10 * minuteMs + 1 }))).toEqual([]);
  expect(brokenBy(begin(null, { notBefore: ten + hourMs }))).toEqual([]);
  expect(brokenBy(begin(null, { notBefore: ten + hourMs + 1 }))).toEqual(['outside_hours']);
});

/** A single call that was given back after an answer with that status, and is told of again. */
function deniedCall(status: number | null, disposition: string, matched: boolean): Draft[] {
  const [batchId, attemptId] = ['spring/1/1', 'spring/1/1'];
  const correction = { disposition, counted: true, from: null };
  return [
    ...plain.slice(0, at('batch.planned')),
    ...batch(1, ten, [[attemptId, ana]]).slice(0, 4),
    { at: ten + 1, type: 'post.verdict', batchId, data: { k: 1, verdict: 'not_sent', status } },
    { at: ten + 1, type: 'batch.state', batchId, data: { state: 'not_sent' } },
    { at: ten + 2, type: 'batch.state', batchId, data: { state: 'released' } },
    { at: ten + 2, type: 'attempt.released', attemptId, batchId, data: { reason: 'not_sent_in_time' } },
    ...(matched ? [{ at: ten + 3, type: 'attempt.matched' as const, attemptId, data: { conversation: 'c1' } }] : []),
    { at: ten + 3, type: 'attempt.corrected', attemptId, data: correction },
  ];
}

test.for([
  [429, 'answered', true, true],
  [429, 'unknown', false, true],
  // Without a record nobody can tell how it ended.
  [429, 'busy', false, false],
  // Of a request that never reached the service there is none.
  [null, 'answered', true, false],
] as const)('a call given back after a %s that ends %s, with a record %s, may be: %s', ([status, end, matched, may]) => {
  const { violations, calls } = judgePlain(deniedCall(status, end, matched));
  expect(violations.some(({ rule }) => rule === 'illegal_change')).toBe(!may);
  expect(calls).toBe(1);
});
