import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { LogAudit } from '../../src/verify/fold.ts';
import { type LogRule, logRules } from '../../src/verify/log-rules.ts';
import type { LoggedEvent } from '../../src/verify/book.ts';
import { buildRules, hourMs, minuteMs, type RulesChanges } from '../support/campaign-rules.ts';

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
const corrected = (attemptId: string, at: number, disposition: string, counted = true): Draft => ({
  at,
  type: 'attempt.corrected',
  attemptId,
  data: { disposition, counted },
});
const outcome = (row: number, at: number, result: string | null, reason: string | null = null): Draft => ({
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

/** `rowKey`: null for a log whose rows have no hashes. */
function judge(log: readonly Draft[], rowKey: string | null = key) {
  const judged = new LogAudit(rowKey);
  for (const [index, draft] of log.entries())
    judged.take({ seq: index + 1, campaignId: 'spring', ...draft } as Parameters<LogAudit['take']>[0]);
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
const last =
  (...events: Draft[]): Change =>
  (log) => [...log, ...events];
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
const outcomeOf = (row: number) => of('recipient.outcome', `spring/${row}`);
const endOf = (attemptId: string) => of('attempt.settled', attemptId);
const beforeThird = (...events: Draft[]) => before(of('batch.planned', 'spring/1/3'), ...events);
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
  before(endOf('spring/2/1'), ...wished(2), outcome(2, ten + 5 * minuteMs, 'cancelled', 'withdrawn')),
  without(ofBatch(3, 'spring/2/2')),
  (log) => log.filter((event) => event.data?.['outcome'] !== 'exhausted'),
);

/** An operator has Ben called back; `end`: how the log tells that the promise was kept, by his second call. */
const promised = (dueAt: number, ...end: Draft[]) =>
  all(
    campaignRules({ retry: { ...rules.retry, maxAttempts: 1 }, caps: [] }),
    beforeThird({
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
const autumnCalls = beforeThird(...elsewhere(ben, ten + 40 * minuteMs), {
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
    'spring/3/1')(event) || outcomeOf(3)(event), -20 * minuteMs)],
  [['time_reversed'], 'a request before the import', moved(ofBatch(1), -6 * minuteMs)],
  [['time_reversed'], 'a request 400 days late', all(campaignRules({ calendar: { hours: null, closedOn: [] } }),
    moved(of('attempt.posted', 'spring/2/2'), 400 * day))],
  [['miscounted'], 'a call that hides that it counts', data(endOf('spring/3/1'), { counted: false })],
  [['miscounted'], 'one failed call too many that does not count',
    all(campaignRules({ retry: { ...rules.retry, maxUncounted: 1 } }),
    data(endOf('spring/2/1'), { disposition: 'failed', counted: false }),
    data(endOf('spring/2/2'), { disposition: 'failed', counted: false }),
    data(outcomeOf(2), { outcome: 'exhausted', reason: 'no_retry_after_failed' }))],
  [['cause_missing'], 'a verdict is deleted', without(of('post.verdict', 'spring/1/2'))],
  [['cause_missing'], 'the state of a batch is deleted', without(of('batch.state', 'spring/1/2'))],
  [['cause_missing'], 'verdict and state of a batch are deleted',
    without(of('post.verdict', 'spring/1/2'), of('batch.state', 'spring/1/2'))],
  [['cause_missing'], 'the end of the campaign is deleted', without(ended)],
  [['cause_missing'], 'the end of the round is deleted', without(of('round.ended'))],
  [['cause_missing'], 'a batch that a record confirmed, and whose record is deleted',
    data(of('batch.state', 'spring/1/2'), { by: 'evidence' })],
  [['cause_missing'], 'a pause is deleted, and its end is not', beforeThird({ at: ten + 20 * minuteMs, type: 'campaign.state',
    data: { from: 'paused', to: 'running' } })],
  [['outcome_unproven'], 'the last batch is erased, and its row expired in a campaign without an end',
    all(without(ofBatch(3, 'spring/2/2')), data(outcomeOf(2), { outcome: 'expired', reason: 'campaign_end' }))],
  [['outcome_unproven'], 'the last batch is erased, and its row cancelled in a campaign that nobody cancelled',
    all(without(ofBatch(3, 'spring/2/2')), data(outcomeOf(2), { outcome: 'cancelled', reason: 'drained' }))],
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
    moved((event) => ofBatch(3)(event) || endOf('spring/2/2')(event) || outcomeOf(2)(event),
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
  [['suppressed_dialled'], 'a number on the do-not-call list', beforeThird(suppression)],
  [['without_consent'], 'a call without the consent that the campaign asks for', campaignRules({ consent: { maxAgeMs: null } })],
  [['without_consent'], 'a call after consent was taken back for what the campaign is for',
    all(campaignRules({ purpose: 'recall' }), beforeThird(takenBack('recall')))],
  [['without_consent'], 'a call of a campaign that names no purpose, after consent was taken back for one',
    beforeThird(takenBack('recall'))],
  [[], 'a call after consent was taken back for something else',
    all(campaignRules({ purpose: 'recall' }), beforeThird(takenBack('marketing')))],
  [['promise_broken_early'], 'another campaign calls a number before what was promised to it',
    all(promised(ten + 60 * minuteMs, keptBy('spring/2/2')), autumnCalls)],
  [['caller_limit_exceeded'], 'a third call of a number in an hour that may make two',
    campaignRules({ callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: 2, perDay: null } } })],
  [['caller_limit_exceeded'], 'a call of a number too soon after another',
    campaignRules({ callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: null, perDay: null,
    spreadMs: 30 * minuteMs } } })],
  [['caller_limit_exceeded'], 'a fourth call of a number in a day that may make three',
    campaignRules({ callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: null, perDay: 3 } } })],
  [['cap_exceeded'], 'a second call to a number of which the house allows one', beforeThird(houseRules({ caps: [{ by: 'number', calls: 1,
    withinMs: 86_400_000 }] }))],
  [['outside_hours'], 'a call on a day that the house has closed', beforeThird(houseRules({ calendar: { hours: null,
    closedOn: ['2030-01-15'] } }))],
  [['caller_limit_exceeded'], 'a number that calls more often than the house allows', beforeThird(houseRules({ callerLimits: { perHour: 1,
    perDay: null } }))],
  [['house_broken'], 'a campaign that lacks what the house requires', beforeThird(houseRules({ requires: { consent: true,
    optOut: false } }))],
  [['pilot_exceeded'], 'a row that is not in the pilot', all(inPilot([1, 2]), beforeThird(pilotOver, goesOn))],
  [['pilot_exceeded'], 'a second call of the pilot', inPilot([1, 2, 3])],
  [['pilot_exceeded'], 'a call while a person is to decide', all(inPilot([1, 2, 3]), beforeThird(pilotOver))],
  [['cause_missing'], 'a pilot that passed by itself where a person was to be asked',
    all(inPilot([1, 2, 3]), beforeThird({ ...pilotOver, data: { sample: 1, passed: true, readings: [] } }))],
  [['illegal_change'], 'a pilot that was decided about while it was called', all(inPilot([1, 2, 3]), beforeThird(goesOn))],
  [['pilot_exceeded'], 'a call after the agent was changed, before anybody decided anew', all(inPilot([1, 2, 3]),
    beforeThird({ at: ten + 20 * minuteMs, type: 'pilot.voided', data: { sample: 1 } }))],
  [['illegal_change'], 'an end of a pilot that nobody calls', before(ended, { ...pilotOver, at: ten + 80 * minuteMs })],
  [['goal_exceeded'], 'a call after the goal', all(oneIsEnough, beforeThird(comes, reachesGoal(ten + 20 * minuteMs)))],
  [['log_incomplete'], 'a goal that was reached, and that nothing tells of', all(oneIsEnough, before(ended, { ...comes,
    at: ten + 80 * minuteMs }))],
  [['cause_missing'], 'a goal that is told of, and was not reached', before(ended, reachesGoal(ten + 80 * minuteMs))],
  [['outcome_unproven'], 'a row that is spared for a goal that was not reached',
    all(without(ofBatch(3, 'spring/2/2')), data(outcomeOf(2), { outcome: 'cancelled', reason: 'goal_reached' }))],
  [[], 'a promise that was kept in its time', promised(ten + 60 * minuteMs, keptBy('spring/2/2'))],
  [['promise_lost'], 'a promise of which nobody tells the end', promised(ten + 60 * minuteMs)],
  [['promise_lost'], 'a promise that counts as kept, and was called after its time', promised(ten + 30 * minuteMs, keptBy('spring/2/2'))],
  [['promise_lost'], 'a promise that counts as kept by a call of another row', promised(ten + 60 * minuteMs, keptBy('spring/3/1'))],
  [['withdrawn_dialled'], 'a row that was withdrawn', beforeThird({ at: ten + 20 * minuteMs, type: 'recipient.withdrawn',
    recipientId: 'spring/2', data: {} },
    { at: ten + 20 * minuteMs, type: 'campaign.edited', data: { added: 0, corrected: 0, withdrawn: 1 } })],
  [['open_changed'], 'a row is changed while its call is open', before(outcomeOf(3),
    { at: ten + 15 * minuteMs, type: 'recipient.withdrawn', recipientId: 'spring/3', data: {} },
    { at: ten + 15 * minuteMs, type: 'campaign.edited', data: { added: 0, corrected: 0, withdrawn: 1 } })],
  [['open_changed'], 'a row is withdrawn with its open call, which the contract gives not back', takenOut],
  [[], 'a row is withdrawn with its open call, which the service gives back, and ends with that call', all(givesBack, takenOut)],
  [['withdrawn_dialled'], 'a row that was withdrawn with its open call', all(givesBack, before(endOf('spring/2/1'), ...wished(2)))],
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
  [['outcome_missing'], 'a row without an outcome', without(outcomeOf(2))],
  [['outcome_changed'], 'another outcome, and no line says why', before(ended, outcome(2, ten + 90 * minuteMs, 'expired', 'row_expired'))],
  [['outcome_changed'], 'a call after the outcome', beforeThird(outcome(2, ten + 20 * minuteMs, 'expired', 'row_expired'))],
  [['opt_out_unlisted'], 'an opt-out that is not put on the list',
    all(data(endOf('spring/1/1'), { disposition: 'opted_out' }),
    data(outcomeOf(1), { outcome: 'opted_out' }))],
  [['illegal_change'], 'a confirmed batch is released', beforeThird({ at: ten + 20 * minuteMs, type: 'batch.state', batchId: 'spring/1/2',
    data: { state: 'released' } })],
  [['illegal_change'], 'a call is told of as settled twice', before(ended, settled('spring/3/1', ten + 90 * minuteMs, 'answered'))],
  [['illegal_change'], 'a second import', before(of('campaign.state'), { ...(kept[0] as Draft) })],
  [
    ['dialled_twice'],
    'a call that is placed again after its end',
    all(
      campaignRules({ caps: [], retry: { ...rules.retry, maxAttempts: 3 } }),
      data(outcomeOf(2), { reason: null }),
      (log) => {
        const first = log.find(of('attempt.posted', 'spring/2/1')) as Draft;
        return before(ended, { ...first, at: ten + 90 * minuteMs })(log);
      },
    ),
  ],
  [['calls_overlap'], 'two campaigns call a number at the same time', before(endOf('spring/3/1'), ...elsewhere(cy, ten + 15 * minuteMs))],
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

test('a log in which every promise was kept is proven, and what there was to judge is counted', () => {
  expect(judge(kept)).toEqual({ violations: [], events: kept.length, calls: 4, campaigns: ['spring'] });
  expect(judge(plain, null)).toEqual({ violations: [], events: plain.length, calls: 3, campaigns: ['spring'] });
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
  retry: { maxAttempts: 2 },
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
  outcome(1, ten + 5 * minuteMs, 'completed'),
  settled('spring/1/1', ten + 5 * minuteMs, 'answered'),
  settled('spring/2/1', ten + 5 * minuteMs, 'busy'),
  ...batch(2, ten + hourMs, [['spring/2/2', ben]]),
  outcome(2, ten + hourMs + minuteMs, 'completed'),
  settled('spring/2/2', ten + hourMs + minuteMs, 'answered'),
  { at: ten + 2 * hourMs, type: 'campaign.state', data: { from: 'running', to: 'completed' } },
  { at: ten + 2 * hourMs, type: 'round.ended', data: { round: 1 } },
];

const judgePlain = (...changes: Change[]) => judge(all(...changes)([...plain]), null).violations;
const brokenBy = (...changes: Change[]): string[] => judgePlain(...changes).map(({ rule }) => rule);
/** What is broken by a log that is none of the plain one. */
const brokenIn = (...log: Draft[]) => brokenBy(() => log);

const dialOf =
  (attemptId: string): Which =>
  (event) =>
    event.type === 'attempt.posted' && event.attemptId === attemptId;
const secondDial = dialOf('spring/2/2');
const secondBatch = of('batch.planned', 'spring/1/2');
const between = (...events: Draft[]) => before(secondBatch, ...events);
/** A call whose end is told a minute later, in a round or as a batch of its own. */
const called = (n: number, at: number, attemptId: string, number: string | undefined, end = 'busy', round = 1): Draft[] => [
  ...batch(n, at, [[attemptId, number]], round),
  settled(attemptId, at + minuteMs, end),
];
const tells =
  (value: string | null): Which =>
  (event) =>
    event.data?.['outcome'] === value;

const edit = (type: LoggedEvent['type'], row: number, data: Record<string, unknown> = {}, at = ten + 30 * minuteMs): Draft => ({
  at,
  type,
  recipientId: `spring/${row}`,
  data,
});
const edited = (added: number, corrected: number, withdrawn: number, at = ten + 30 * minuteMs): Draft => ({
  at,
  type: 'campaign.edited',
  data: { added, corrected, withdrawn },
});

/** The log as it is with a pre-dial hook that allows every call. */
const asking: Change = (log) =>
  data(of('attempt.posted'), { screened: 'eligible' })(log).flatMap((event) => {
    if (event.type === 'campaign.imported') return [{ ...event, data: { ...event.data, rules: { ...loose, preDial } } }];
    if (event.type !== 'batch.planned') return [event];
    const { batchId = '', at } = event;
    const ids = log.flatMap((other) => (other.type === 'attempt.posted' && other.batchId === batchId ? [other.attemptId] : []));
    return [event, { at, type: 'batch.screened', batchId, data: { asked: ids.length, refused: 0, later: 0, eligible: ids } }];
  });

const inCampaign = (campaignId: string, events: readonly Draft[]): Draft[] => events.map((event) => ({ ...event, campaignId }));

/** A campaign `autumn` without caps that calls Ben, who is busy. */
const inAutumn = (when: number, more: Record<string, unknown> = {}): Draft[] =>
  inCampaign('autumn', [
    { at: when, type: 'campaign.imported', data: { rows: 2, rejected: 1, rules: { ...loose, caps: [] } } },
    { at: when, type: 'campaign.state', data: { to: 'running' } },
    ...data(of('attempt.posted'), more)(batch(1, when, [['autumn/1/1', ben]])),
    settled('autumn/1/1', when + minuteMs, 'busy'),
    { ...outcome(1, when + minuteMs, 'exhausted'), recipientId: 'autumn/1' },
  ]);

/** Ben is not reached by both calls. */
const usedUp = all(
  data(endOf('spring/2/2'), { disposition: 'busy' }),
  data(outcomeOf(2), { outcome: 'exhausted', reason: 'attempts_used_up' }),
);
const unresolved = all(
  data(endOf('spring/2/2'), { disposition: 'unknown' }),
  data(outcomeOf(2), { outcome: 'unresolved', reason: 'unknown' }),
);
const optedOut = all(data(endOf('spring/1/1'), { disposition: 'opted_out' }), data(outcomeOf(1), { outcome: 'opted_out' }));
const listed = (terms: Record<string, unknown>) =>
  all(
    optedOut,
    before(endOf('spring/2/1'), {
      at: ten + 5 * minuteMs,
      type: 'suppression.added',
      attemptId: 'spring/1/1',
      data: { e164: ana, ...terms },
    }),
  );
const half = ten + 30 * minuteMs;
const twoHours = ten + 2 * hourMs;
const late = ten + 3 * hourMs;

/** Single changes of a clean log, and the line that has to be named. */
// prettier-ignore
const outcomeCorruptions: [rule: LogRule, what: string, change: Change, line: Which][] = [
  ['outcome_changed', 'a second outcome', all(usedUp, last(outcome(2, twoHours, 'cancelled'))), tells('cancelled')],
  ['outcome_changed', 'somebody who was reached and is exhausted later', between(outcome(1, half, 'exhausted')), tells('exhausted')],
  ['outcome_changed', 'the same outcome twice', between(outcome(1, half, 'completed')), ({ type,
    at }) => type === 'recipient.outcome' && at === half],
  ['outcome_changed', 'an outcome that is taken back for no reason', all(usedUp, last(outcome(2, twoHours, null))), tells(null)],
  ['log_incomplete', 'an outcome that is taken back and was never there', between(outcome(2, twoHours, null)), tells(null)],
  ['outcome_missing', 'an outcome of a row that there is not, in place of one that there is',
    change(outcomeOf(2), (event) => ({ ...event, recipientId: 'spring/99' })), outcomeOf(99)],
  ['outcome_unproven', 'an outcome of a rejected row, in place of one that was called',
    change(outcomeOf(2), (event) => ({ ...event, recipientId: 'spring/3' })), outcomeOf(3)],
  ['outcome_unproven', 'attempts used up although the call was answered', data(outcomeOf(1), { outcome: 'exhausted' }), outcomeOf(1)],
  ['outcome_unproven', 'attempts used up although the last call was answered', data(outcomeOf(2), { outcome: 'exhausted' }), outcomeOf(2)],
  ['outcome_unproven', 'cancelled although the call was answered', data(outcomeOf(1), { outcome: 'cancelled' }), outcomeOf(1)],
  ['outcome_unproven', 'completed although no call was answered', data(endOf('spring/2/2'), { disposition: 'busy' }), outcomeOf(2)],
  ['outcome_unproven', 'opted out although nobody said so', data(outcomeOf(1), { outcome: 'opted_out' }), outcomeOf(1)],
  ['outcome_unproven', 'unresolved although the end of the call is known', all(usedUp, data(outcomeOf(2), { outcome: 'unresolved' })),
    outcomeOf(2)],
  ['outcome_unproven', 'completed, and the batch with the call is not there', without(ofBatch(2, 'spring/2/2')), outcomeOf(2)],
  ['outcome_unproven', 'attempts used up, and the batch with the last is not there', all(usedUp, without(ofBatch(2, 'spring/2/2'))),
    outcomeOf(2)],
  ['outcome_unproven', 'attempts used up, and none of them is there',
    all(usedUp, without(ofBatch(2, 'spring/2/1', 'spring/2/2')), data(outcomeOf(2), { reason: null })), outcomeOf(2)],
  ['outcome_unproven', 'no retry after an end that no call had', all(usedUp, data(outcomeOf(2), { reason: 'no_retry_after_voicemail' })),
    outcomeOf(2)],
  ['outcome_unproven', 'completed long before a late record shows an answered call',
    all(data(endOf('spring/2/2'), { disposition: 'busy' }), last(corrected('spring/2/2', late, 'answered'))), outcomeOf(2)],
  ['log_incomplete', 'a batch that is missing before another', without(ofBatch(1, 'spring/1/1', 'spring/2/1')),
    ({ type, batchId }) => type.endsWith('.planned') && batchId === 'spring/1/2'],
  ['log_incomplete', 'a call that is missing before another of its row',
    all(without(ofBatch(9, 'spring/2/1')), data(({ batchId, data }) => batchId === 'spring/1/1' && 'size' in (data ?? {}), { size: 1 })),
    of('attempt.planned', 'spring/2/2')],
  ['log_incomplete', 'a call to a row that there is not', between(...called(1, half, 'spring/4/1', cy, 'busy', 2)), of('attempt.planned',
    'spring/4/1')],
  ['opt_out_unlisted', 'an opt-out that is not put on the list', optedOut, endOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out that is put on the list of one campaign', listed({ scope: 'spring' }), endOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out that is put on the list for a time', listed({ scope: 'account', expiresAt: ten + day }),
    endOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out for which another number is put on the list', listed({ scope: 'account', e164: ben }),
    endOf('spring/1/1')],
  ['reached_dialled', 'a call after one that was answered, whose outcome is not told',
    all(between(...called(1, half, 'spring/1/2', ana, 'busy', 2)), without(outcomeOf(1))), dialOf('spring/1/2')],
];

test.each(outcomeCorruptions)('the line is named: %s, %s', (rule, _what, change, line) => {
  const log = change([...plain]);
  const found = judge(log, null).violations.flatMap(({ rule: broken, seq }) => (broken === rule && seq !== null ? [seq] : []));
  const lines = log.flatMap((event, index) => (line(event) ? [index + 1] : []));
  expect(lines.length).toBeGreaterThan(0);
  expect(found).toEqual(lines);
});

test('a row that was called and has no outcome is named, also where a rejected one has it', () => {
  const swapped = change(outcomeOf(2), (event) => ({ ...event, recipientId: 'spring/3', data: { outcome: 'expired' } }));
  expect(judgePlain(swapped).map(({ rule, what }) => [rule, what])).toEqual([
    ['outcome_missing', 'spring/2 was to be called and has no outcome'],
  ]);
});

const suppressed = { ...suppression, data: { ...suppression.data } };
const screenedBatch = of('batch.screened');

// prettier-ignore
const plainCorruptions: [rule: LogRule, what: string, ...changes: Change[]][] = [
  ['dialled_twice', 'a second request after one whose fate is unknown',
    before(of('post.verdict'), { at: ten + 2, type: 'batch.posting', batchId: 'spring/1/1', data: { k: 2, size: 2 } })],
  ['calls_overlap', 'a second call while the first is open', without(endOf('spring/2/1'))],
  ['outside_hours', 'before the window opens', moved(dialOf('spring/1/1'), -2 * hourMs)],
  ['outside_hours', 'within the margin before it closes', moved(secondDial, 5.9 * hourMs)],
  ['outside_hours', 'on the holiday of the next day', moved(secondDial, 23 * hourMs)],
  ['outside_hours', 'after the end of the campaign', moved(secondDial, 7 * day - hourMs)],
  ['outside_hours', 'in a zone where it is night', data(secondDial, { zones: ['America/New_York', 'Asia/Tokyo'] })],
  ['suppressed_dialled', 'a number on the list of this campaign', between(...inCampaign('spring', [{ ...suppressed,
    data: { ...suppressed.data, scope: 'spring' } }]))],
  ['cap_exceeded', 'a third call to the number within eighty minutes, the second by another campaign', between(...inAutumn(half))],
  ['cap_exceeded', 'a second call to the person within the hour, at another number',
    between(...inAutumn(half, { e164: '+12125550177', person: 'b' })), data(secondDial, { person: 'b' })],
  ['cap_exceeded', 'a call an hour after a talk', data(endOf('spring/2/1'), { disposition: 'answered' })],
  ['reached_dialled', 'a call after the goal was reached', before(ended, ...called(3, ten + 1.5 * hourMs, 'spring/1/2', ana))],
  ['unscreened_dialled', 'a batch that the pre-dial hook was not asked about', without(of('batch.planned', 'spring/1/1')), asking],
  ['unscreened_dialled', 'a call whose mark is missing', asking, data(of('attempt.posted'), { screened: null })],
  ['unscreened_dialled', 'a call that the pre-dial hook did not allow', asking, data(screenedBatch, { eligible: ['spring/9/1'] })],
  ['unscreened_dialled', 'a call that was allowed too long before', asking, moved(screenedBatch, -16 * minuteMs)],
  ['outcome_missing', 'a row that the list did not have', before(ended, outcome(9, ten, 'cancelled'))],
  ['illegal_change', 'a completed campaign that is paused', last({ at: ten, type: 'campaign.state', data: { to: 'paused' } })],
  ['log_incomplete', 'a batch that was never planned', without(secondBatch)],
  ['log_incomplete', 'an end without a call', before(ended, settled('spring/7/1', ten, 'busy'))],
  ['log_incomplete', 'a call without an end', without(endOf('spring/1/1'))],
  ['log_incomplete', 'a campaign without its import', without(of('campaign.imported'))],
  ['log_incomplete', 'a verdict of a request that was never begun', data(of('post.verdict', 'spring/1/1'), { k: 2 })],
  ['log_incomplete', 'a call of which the place is missing', change(secondDial, (event) => ({ ...event, data: { k: 1, e164: ben } }))],
  ['open_changed', 'a row corrected while its call is open', before(outcomeOf(2), edit('recipient.corrected', 2))],
  ['open_changed', 'a row corrected while its call is planned',
    before(of('batch.posting', 'spring/1/2'), edit('recipient.corrected', 2), edited(0, 1, 0))],
  ['withdrawn_dialled', 'a call to a withdrawn row that a retry put back', between(edit('recipient.withdrawn', 2), edited(0, 0, 1),
    outcome(2, ten, 'cancelled'), edit('recipient.retried', 2, { outcome: 'cancelled' }))],
  ['reached_dialled', 'a row corrected after it was reached', between(edit('recipient.corrected', 1, { outcome: 'completed' }), edited(0,
    1, 0))],
  ['outcome_missing', 'a row that was added and has no outcome', between(edit('recipient.added', 4), edited(1, 0, 0))],
  ['outcome_missing', 'a rejected row that was corrected and has no outcome',
    between(edit('recipient.corrected', 3, { outcome: 'rejected' }), edited(0, 1, 0))],
  ['log_incomplete', 'a number of changes that was never told', between(edit('recipient.corrected', 2))],
  ['log_incomplete', 'changes that are told and not there', between(edited(0, 1, 0))],
  ['log_incomplete', 'a correction of an outcome that there was not',
    between(edit('recipient.corrected', 2, { outcome: 'undialable' }), edited(0, 1, 0))],
  ['log_incomplete', 'more rejected rows corrected than there were', between(edit('recipient.corrected', 3, { outcome: 'rejected' }),
    edit('recipient.corrected', 4, { outcome: 'rejected' }), edited(0, 2, 0))],
];

test.each(plainCorruptions)('%s: %s is found', (rule, _what, ...changes) => {
  expect(brokenBy(...changes)).toContain(rule);
});

test('events that stand in another order than their numbers are found', () => {
  const log = new LogAudit();
  for (const seq of [1, 2, 2]) log.take({ seq, campaignId: 'spring', ...plain[seq - 1] } as LoggedEvent);
  expect(log.finish().violations.map(({ rule, seq }) => [rule, seq])).toContainEqual(['log_incomplete', 2]);
});

const callerEvent = (type: 'caller.out' | 'caller.in'): Draft => ({ at: ten + hourMs, type, data: { phoneNumberId: 'pn_main' } });
const retried: Draft = { at: late, type: 'recipient.retried', recipientId: 'spring/2', data: { outcome: 'exhausted' } };
/** The first batch. */
const both = (at: number) => batch(1, at, [['spring/1/1', ana], ['spring/2/1', ben]]); // prettier-ignore
/** The request for the first batch is answered with a 429, and repeated. */
const repeated = all(
  data(of('post.verdict', 'spring/1/1'), { verdict: 'not_sent', status: 429 }),
  data(of('batch.state', 'spring/1/1'), { state: 'not_sent' }),
  before(outcomeOf(1), ...data(({ data }) => data?.['k'] !== undefined, { k: 2 })(both(ten + 1).slice(3))),
);
/** Ben gets a budget anew after the end, and a late correction of the old one has no bearing on it. */
const again = all(
  usedUp,
  last(
    retried,
    { at: late, type: 'campaign.state', data: { to: 'running' } },
    ...batch(3, late, [['spring/2/3', ben]]),
    settled('spring/2/3', late + 6 * minuteMs, 'busy'),
    corrected('spring/2/2', late + 6 * minuteMs, 'busy'),
    ...batch(4, ten + 4.5 * hourMs, [['spring/2/4', ben]]),
    settled('spring/2/4', ten + 4.6 * hourMs, 'busy'),
    outcome(2, ten + 4.6 * hourMs, 'exhausted'),
  ),
);
const atEnd = ten + hourMs + minuteMs;
/** Ben's number does not exist, and is corrected while the campaign goes on; he is called once more. */
const renumbered = (numberChanged: boolean) =>
  all(
    usedUp,
    without(of('round.ended'), ended, outcomeOf(2)),
    last(
      outcome(2, atEnd, 'undialable'),
      edit('recipient.corrected', 2, { outcome: 'undialable', numberChanged }, atEnd),
      edited(0, 1, 0, atEnd),
      ...called(3, late, 'spring/2/3', '+12125550103'),
    ),
  );

// prettier-ignore
const allowed: [what: string, ...changes: Change[]][] = [
  ['a number that has been taken in again calls', before(of('batch.posting', 'spring/1/2'), callerEvent('caller.out'),
    callerEvent('caller.in'))],
  ['calls that the pre-dial hook allowed', asking],
  ['somebody looks at a row and its calls, whenever that is', (log) =>
    log.flatMap((event) => [event, { at: event.at, type: 'operator.acted', recipientId: 'spring/1', attemptId: 'spring/1/1', data: {} }])],
  ['a request that was proven to have queued nothing is repeated', repeated],
  ['a row that was not reached gets a budget anew', again],
  ['rows are added, corrected and withdrawn, and one that is rejected or withdrawn comes back', between(
    edit('recipient.added', 4), edit('recipient.corrected', 3, { outcome: 'rejected' }), edit('recipient.corrected', 2, { outcome: null }),
    edited(1, 2, 0), edit('recipient.withdrawn', 4), edited(0, 0, 1), outcome(4, half, 'cancelled'),
    edit('recipient.corrected', 4, { outcome: 'cancelled' }), edited(0, 1, 0),
    ...batch(1, ten + 40 * minuteMs, [['spring/3/1', cy], ['spring/4/1', '+12125550103']], 2),
    ...[3, 4].flatMap((row) => [settled(`spring/${row}/1`, ten + 45 * minuteMs, 'answered'), outcome(row, ten + 45 * minuteMs,
    'completed')]))],
  ['a number that does not exist is corrected, and called with a budget of its own', renumbered(true)],
  ['an entry of the list that was over', between({ ...suppressed, data: { ...suppressed.data, expiresAt: ten + minuteMs } })],
  ['an entry that was taken off again', between(suppressed, { ...suppressed, type: 'suppression.removed', data: { e164: ben,
    scope: 'account' } })],
  ['a correction gives an attempt back', data(endOf('spring/2/2'), { disposition: 'busy' }), without(outcomeOf(2)), before(ended,
    corrected('spring/2/1', atEnd, 'failed', false), ...batch(3, ten + 1.5 * hourMs, [['spring/2/3', ben]]),
    outcome(2, ten + 1.6 * hourMs, 'completed'), settled('spring/2/3', ten + 1.6 * hourMs, 'answered'))],
  ['an opt-out is on the list', listed({ scope: 'account' })],
  ['nobody is reached', usedUp],
  ['a late record shows an answered call', usedUp, last(outcome(2, late, 'completed', 'answered'), corrected('spring/2/2', late,
    'answered'))],
  ['a late record shows that nobody answered', last(outcome(2, late, 'exhausted', 'attempts_used_up'), corrected('spring/2/2', late,
    'busy'))],
  ['it shows another kind of talk', last(outcome(2, late, 'completed', 'silent'), corrected('spring/2/2', late, 'answered'))],
  ['a call is planned again for a late record', last(outcome(2, late, null), corrected('spring/2/2', late, 'voicemail'))],
  ['a person gives up', unresolved, last(outcome(2, late, 'unresolved', 'given_up'))],
  ['a person has somebody redialled', unresolved, last(outcome(2, late, null))],
  // Logs of the first schema do not tell that an outcome was taken back.
  ['an outcome was taken back in silence', usedUp, last(corrected('spring/2/2', late, 'voicemail'), outcome(2, late, 'expired',
    'row_expired'))],
  ['somebody is put back in line after the end, and waits for the next round', usedUp, last(retried)],
];

test.each(allowed)('no violation: %s', (_what, ...changes) => {
  expect(judgePlain(...changes)).toEqual([]);
});

test('what is allowed once is not allowed further', () => {
  const fifth = batch(5, ten + 4.9 * hourMs, [['spring/2/5', ben]]);
  expect(brokenBy(again, last(...fifth, settled('spring/2/5', ten + 5 * hourMs, 'busy')))).toContain('budget_exceeded');
  // With its number as it was a row has what was left.
  expect(brokenBy(renumbered(false))).toEqual(['budget_exceeded']);
  const rounds: Draft[] = [
    { at: late, type: 'campaign.state', data: { to: 'running' } },
    { at: late, type: 'campaign.state', data: { to: 'completed' } },
    { at: late, type: 'round.ended', data: { round: 2 } },
  ];
  expect(brokenBy(usedUp, last(retried, ...rounds))).toEqual(['outcome_missing']);
});

test('a call of the day before takes no place in a cap of eighty minutes', () => {
  const earlier = before(of('batch.planned'), ...inAutumn(ten - 23.5 * hourMs));
  expect(judgePlain(earlier).filter(({ campaignId }) => campaignId === 'spring')).toEqual([]);
});

/** The beginning of the log of a campaign of rows that are called at any hour. */
const begun = (rules: RulesChanges, rows = 2): Draft[] => [
  { at: ten, type: 'campaign.imported', data: { hash: 'x', rows, rejected: 0, rules: buildRules(rules) } },
  { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
];

test('budgets of numbers and renewed budgets are judged by when their attempts were', () => {
  const call = (n: number, at: number): Draft[] => called(n, at, `spring/2/${n}`, ben);
  const renewed = begun({ retry: { maxAttempts: 2, resetAfterMs: day } });
  const twice = [...renewed, ...call(1, ten), ...call(2, ten + hourMs)];
  expect(brokenIn(...twice, ...call(3, ten + day))).toEqual([]);
  expect(brokenIn(...twice, ...call(3, ten + day - 1))).toEqual(['budget_exceeded']);

  const autumn = (drafts: Draft[]): Draft[] =>
    (JSON.parse(JSON.stringify(drafts).replaceAll('"spring/', '"autumn/')) as Draft[]).map((draft) => ({ ...draft, campaignId: 'autumn' }));
  const shared = begun({ retry: { maxAttempts: 2, maxAttemptsPerNumber: 2 } });
  const both = [...shared, ...autumn(shared), ...call(1, ten), ...autumn(call(1, ten + hourMs))];
  expect(brokenIn(...both)).toEqual([]);
  const third = call(2, twoHours);
  expect(brokenIn(...both, ...third)).toEqual(['budget_exceeded']);
  const uncounted = autumn([corrected('spring/2/1', ten + hourMs + 2 * minuteMs, 'failed', false)]);
  expect(brokenIn(...both, ...uncounted, ...third)).toEqual([]);
  // They may be used up before a row is called at all.
  expect(brokenIn(...begun({ retry: { maxAttemptsPerNumber: 1 } }, 1).slice(0, 1), outcome(1, ten, 'exhausted'))).toEqual([]);
});

test.each<[startsAt: number | null, posted: object, broken: string[]]>([
  [ten + hourMs, { expiresAt: twoHours }, []],
  [ten + hourMs + 1, {}, ['outside_hours']],
  [null, { expiresAt: ten + hourMs + 10 * minuteMs }, ['outside_hours']],
  [null, { expiresAt: ten + hourMs + 10 * minuteMs + 1 }, []],
  [null, { notBefore: ten + hourMs }, []],
  [null, { notBefore: ten + hourMs + 1 }, ['outside_hours']],
])('a call in a campaign that starts at %s, of a row with %j, breaks %j', (startsAt, posted, broken) => {
  const calls = data(of('attempt.posted'), { ...posted })(called(1, ten + hourMs, 'spring/2/1', ben));
  expect(brokenIn(...begun({ startsAt }), ...calls)).toEqual(broken);
});

/** A single call that was given back after an answer with that status, and is told of again. */
function deniedCall(status: number | null, disposition: string, matched: boolean): Draft[] {
  const [batchId, attemptId] = ['spring/1/1', 'spring/1/1'];
  return [
    ...plain.slice(0, 3),
    ...batch(1, ten, [[attemptId, ana]]).slice(0, 4),
    { at: ten + 1, type: 'post.verdict', batchId, data: { k: 1, verdict: 'not_sent', status } },
    { at: ten + 1, type: 'batch.state', batchId, data: { state: 'not_sent' } },
    { at: ten + 2, type: 'batch.state', batchId, data: { state: 'released' } },
    { at: ten + 2, type: 'attempt.released', attemptId, batchId, data: { reason: 'not_sent_in_time' } },
    ...(matched ? [{ at: ten + 3, type: 'attempt.matched' as const, attemptId, data: { conversation: 'c1' } }] : []),
    corrected(attemptId, ten + 3, disposition),
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
  const { violations, calls } = judge(deniedCall(status, end, matched), null);
  expect(violations.some(({ rule }) => rule === 'illegal_change')).toBe(!may);
  expect(calls).toBe(1);
});
