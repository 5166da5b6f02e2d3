import { beforeAll, expect, test } from 'vitest';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { askingResult, buildRows, buildRules, hourMs, minuteMs } from '../support/campaign-rules.ts';
import { Drive } from './drive.ts';
import { countGivenUp, gatherWorld } from './gather.ts';
import { drawWorld } from './inputs/draw-world.ts';
import { isWithin } from './judge/calls.ts';
import type { Asked, Books, Call, Deed, Evidence, Final, Row, Try } from './judge/evidence.ts';
import { judge, rules, type Rule } from './judge/judge.ts';
import type { Cap, Pilot } from './judge/limits.ts';
import type { Closed } from './judge/not-then.ts';
import type { Outcome } from './outcome.ts';

function rulesBroken(evidence: Evidence): Rule[] {
  return [...new Set(judge(evidence).map(({ rule }) => rule))].sort();
}

// By hand: who answers, who does not, who has no number, and who asked not to be called

const [ann, bob, barred, stranger] = ['+12125550130', '+12125550131', '+12125550132', '+12125550199'] as const;
const campaignId = 'forged';

function call(to: string, at: number, more: Partial<Call> = {}): Call {
  const { requestId = `${campaignId}/1/${at}/1` } = more;
  const record = { silent: false, conversationId: null, visible: true, listedAt: at, transcriptTurns: 0 };
  const times = { acceptedAt: at, realAcceptedAt: at, dialedAt: at, endedAt: at + minuteMs };
  const own = { callId: `call ${at}`, batchId: requestId, requestId, agentNumber: 'pn_main', to };
  return { ...record, ...times, ...own, result: 'no_answer', optedOut: false, ...more };
}

const row = (number: string, at: number, more: Partial<Row> = {}): Row => {
  return { campaignId, row: at, numbers: [number], cells: { phone: number }, ...more };
};
const rows = [row(ann, 1), row(bob, 2), row('555', 3, { mustBe: 'rejected' }), row(barred, 4, { mustBe: 'suppressed' })];
const ending = (outcome: string, at: number, phone = rows[at - 1]?.numbers[0] ?? null): Final => {
  const ids = { campaign_id: campaignId, row_number: at, recipient_id: `${campaignId}/${at}`, external_id: null };
  return { ...ids, e164: phone, state: 'done', outcome, reason: null, cells: { phone } };
};
const answered = { result: 'answered' };
const optedOut = { ...answered, optedOut: true };
const calls = [call(ann, 1_000, answered), call(bob, 2_000, { result: 'busy' }), call(bob, 90_000, { endedAt: null })];
const [talk = call(ann, 0), busy = talk, open = talk] = calls;
const finals = ['completed', 'exhausted', 'rejected', 'suppressed'].map((outcome, at) => ending(outcome, at + 1));
const budgets = [{ campaignId, attempts: 2, uncounted: 1, more: 0 }];
const by = 'accepted' as const;
const good: Evidence = {
  calls,
  rows,
  finals,
  endings: 'by calls alone',
  faults: [],
  denials: 0,
  budgets,
  doubt: { by: 'number', most: 0 },
};

type Change = Partial<Evidence>;
/** Where neither outcomes nor budgets are looked at. */
const plain = { budgets: [], endings: undefined } as unknown as Change;
const of = (...some: Call[]): Change => ({ ...plain, calls: some });
const and = (...more: Call[]): Change => ({ calls: [...calls, ...more] });
const ends = (at: number, outcome: string): Change => ({ finals: finals.with(at - 1, ending(outcome, at)) });
const closed = (why: Closed['why'], more: Partial<Closed> = {}): Change => ({ closed: [{ why, by, from: 0, numbers: [ann], ...more }] });
const cap = (more: Partial<Cap> = {}): Change => ({
  caps: [{ why: 'too many calls of a number', of: 'number', most: 1, withinMs: hourMs, by, ...more }],
});
const pilot = (decidedAt: number, sample: Pilot['sample']): Change => ({ pilots: [{ campaignId, by, decidedAt, sample }] });
const goal = (isExact: boolean, more: Call): Change => {
  return { ...of({ ...talk, goal: true }, more), goals: [{ campaignId, wanted: 1, isExact, graceMs: 0 }] };
};
const rang = (dialedAt: number): Change => ({ calls: [{ ...talk, dialedAt }, busy, open] });
const first = (more: Partial<Row>): Change => ({ rows: rows.with(0, row(ann, 1, more)) });
const later = 200_000;
const other = { requestId: 'other/1/1/1' };
const again = (from: number, until: number, told = false): Partial<Call> => ({ ...answered, again: { from, until, told } });
const promised = (more: Partial<Call>, ...then: Call[]): Change => of(call(ann, 1_000, more), ...then);
const deed = (act: Deed['act'], number: string, end: Deed['end'], more: Partial<Deed> = {}): Change => ({
  deeds: [{ act, number, end, ...more }],
});
const tried = (status: number, more: Partial<Try> = {}): Try => {
  return { status, code: null, isReplayed: false, together: false, written: [], ...more };
};
const asked = (tries: Try[], more: Partial<Asked> = {}): Change => ({
  asked: [{ act: 'pause', number: null, sending: 'once', answered: true, tries, ...more }],
});
const [wrote, repeated, together] = [{ written: ['campaign.paused'] }, { isReplayed: true }, { together: true }];
const stopped = { listed: [], byPerson: [], maybe: [], mayHaveEnded: false };
const failed = (at: number) => call(bob, at, { result: 'failed', endedAt: at + 1 });
const twice = [talk, { ...busy, requestId: `${campaignId}/1/1000/2` }, open];
const dials = [{ attemptId: `${campaignId}/2/1`, batchId: `${campaignId}/1/2000`, k: 1, e164: bob, at: 2_000 }];
const reported = (more: object): Change => ({
  doubt: { by: 'requests', unseen: false, overOnly: false, partial: [], doubted: [], dials, ...more },
});
/** Bob is left to an operator, called or not. */
const left = { ...plain, ...ends(2, 'unresolved') };
const leftUncalled = { ...left, calls: [talk] };
const changes = (logged: number): Change => ({ changes: { logged, carriedOut: 3, unheard: 1 } });

/** What breaks one rule, by hand. */
const forged: readonly [Rule, ...Change[]][] = [
  ['two calls at once', of(call(bob, 1_000), call(bob, 2_000)), of(open, call(bob, later))],
  ['called after an opt-out', of(call(ann, 0, optedOut), call(ann, later)), of(call(ann, 0, optedOut), call(ann, later, other)),
    promised({ ...again(0, Infinity, true), optedOut: true }, call(ann, later))],
  ['called after an answer', of(talk, call(ann, later)),
    // To the other number of a row.
    { ...of(talk, call(bob, later)), ...first({ numbers: [ann, bob] }) }],
  ['called too often', { calls: [failed(500), failed(700), ...calls] }, { calls: [talk, busy, { ...busy, acceptedAt: 70_000 }, open] }],
  ['a request sent twice', { requests: ['a', null, 'b', 'a'] }],
  ['a batch taken twice', { calls: twice }],
  ['called without a request', ...[{ requestId: null }, { allowed: null }].map((no) => ({ calls: [{ ...talk, ...no }, busy, open] }))],
  ['called though on no list', and(call(barred, later)), and(call(stranger, later)), closed('called though on no list')],
  ['called though stopped by a person', closed('called though stopped by a person'), deed('suppress', ann, 'done', { at: -30_000 })],
  ['dialled while paused', closed('dialled while paused', { numbers: [ann, bob], by: 'real', spare: 1 }),
    { ...closed('dialled while paused', { by: 'allowed', from: 4, until: 5 }), calls: calls.map((each) => ({ ...each, allowed: 4 })) }],
  ['rang after it was taken back', { ...closed('rang after it was taken back', { by: 'rang', from: 2_000 }), ...rang(2_000) }],
  ['called without consent', closed('called without consent')],
  ['called out of hours', first({ hours: '10:00-11:00', zones: ['America/New_York', 'Europe/London'] })],
  ['called after its time', closed('called after its time', { from: 1_000 })],
  ['called against the house rules', closed('called against the house rules'), cap({ why: 'called against the house rules' })],
  ['called though another campaign goes first', closed('called though another campaign goes first', { campaignId })],
  ['too many calls of a number', cap(), cap({ of: 'caller', most: 2 }), cap({ of: 'all', by: 'rang', withinMs: 2_000 }),
    { ...cap({ of: 'person', most: 2 }), rows: rows.map((each) => ({ ...each, person: 'p' })) }],
  ['called before the pilot was decided about', pilot(later, 1), pilot(later, [bob])],
  ['called after the goal was reached', goal(false, call(bob, later)), goal(true, { ...open, endedAt: 0, goal: true })],
  ['a batch too large', ...[{}, { requestId: `${campaignId}/0/9/1` }].map((more) => ({
    ...of(call(ann, 0, { realAcceptedAt: -1, ...more }), call(ann, later), call(bob, later)), sizes: { at: 0, most: 1 } }))],
  ['called before what was promised', promised(again(later, Infinity), call(ann, later - 1))],
  ['a promise kept late', promised(again(later, later + 10), call(ann, later + 10))],
  ['a promise lost', promised(again(later, later + 10))],
  ['a promise kept twice', promised(again(later, later + hourMs), call(ann, later), call(ann, 2 * later))],
  ['another campaign called first', promised(again(later, later + hourMs, true), call(ann, later, other))],
  ['not one outcome', { finals: finals.slice(0, 3) }, { finals: [...finals, ...finals.slice(3)] },
    { ...plain, ...ends(1, 'in_progress') }, { finals: finals.with(0, { ...ending('completed', 1), state: 'open' }) }],
  ['not the row of the list', { finals: finals.toReversed() },
    { finals: finals.with(0, { ...ending('completed', 1), cells: { phone: bob } }) }],
  ['wrong outcome', ends(1, 'exhausted'), ends(2, 'completed'), { calls: [talk] }, { calls: [{ ...talk, optedOut: true }, busy, open] },
    { endings: 'by calls', ...ends(2, 'completed') }],
  ['in doubt without cause', ends(2, 'unresolved'), { ...left, ...reported({ unseen: true }) }, { ...leftUncalled, ...reported({}) },
    reported({ doubted: [`${campaignId}/2`] })],
  ['answered, and not done', { ...of(), ...deed('withdraw', bob, 'done') }, { ...of(), ...deed('suppress', bob, 'done') }, changes(2),
    { ...deed('suppress', bob, 'done'), stopped }],
  ['done though refused', deed('suppress', barred, 'refused'), { stopped: { ...stopped, byPerson: [barred] } },
    { ...plain, stopped, ...ends(2, 'cancelled') }, asked([tried(200)], { act: 'stale resume' }),
    asked([tried(409, { code: 'wrong_state', ...wrote })]), asked([tried(200)], { sending: 'read only' })],
  ['done by a repetition', changes(5), asked([tried(200, wrote), tried(200)]),
    asked([tried(200, wrote), tried(200, { ...repeated, ...wrote })]), asked([tried(200, together), tried(200, together)]),
    asked([tried(200), tried(201)], { sending: 'key reused' })],
  ['answered wrongly', { seen: ['it was undone'] }],
  ['a defect', asked([tried(500)])],
  ['no end', asked([], { answered: false }), { faults: ['it never ends'] }],
  ['needs a hand', { presses: ['no reason'] }],
]; // prettier-ignore

test.each(forged.flatMap(([rule, ...some]) => some.map((change) => ({ rule, change }))))('the judge finds: $rule', ({ rule, change }) => {
  expect(rulesBroken({ ...good, ...change })).toEqual([rule]);
});

/** What looks like it, and breaks none. */
const innocent: [name: string, change: Change][] = [
  ['nothing', {}],
  ['a call by another campaign', of(talk, call(ann, later, other))],
  ['two calls that the service made of one request', { ...of(busy, { ...busy, callId: 'again' }), makesTwice: true }],
  ['a call that failed between two that did not', { calls: [failed(500), ...calls] }],
  ['a request that the service had denied', { denials: 1, calls: twice }],
  ['a call after a pause', closed('dialled while paused', { until: 1_000 })],
  ['a request that was on its way', closed('dialled while paused', { by: 'real', spare: 1 })],
  ['a request before the hours, and the ring in them', { ...first({ hours: '10:00-11:00', zones: ['UTC'] }), ...rang(10 * hourMs) }],
  ['a call in its time', promised(again(later, later + 10), call(ann, later))],
  ['an end by something else than calls', { endings: 'by calls', ...ends(2, 'expired') }],
  ['an end that a person made', { calls: [talk], rows: rows.with(1, row(bob, 2, { acted: 'cancelled' })), ...ends(2, 'cancelled') }],
  ['a doubt about what was not carried out', { ...leftUncalled, ...reported({ unseen: true }) }],
  ['a doubt about what is only told to be over', { ...left, ...reported({ overOnly: true }) }],
  ['a call that was on its way', deed('suppress', ann, 'done', { at: -28_000 })],
]; // prettier-ignore

test.each(innocent)('the judge acquits: %s', (_, change) => {
  expect(judge({ ...good, ...change })).toEqual([]);
});

test('a single record that came too late is told from a list that was late as a whole', () => {
  const stragglers = (listedAt: number, other: number) => {
    const late = [call(ann, 0, { ...answered, listedAt }), call(bob, 1_000, { listedAt: other }), call(ann, later, { listedAt: other })];
    return judge({ ...good, ...of(...late), settleMs: minuteMs }).map(({ straggler }) => straggler);
  };
  expect(stragglers(2 * minuteMs + 1, 1_000)).toEqual([true]);
  expect(stragglers(2 * minuteMs + 1, 2 * minuteMs + 2)).toEqual([undefined]);
});

test('the hours of a row are read as a person reads them', () => {
  const at = (text: string) => Date.parse(`2030-03-${text}Z`);
  // New York is five hours behind until the tenth at seven, and then four.
  const sunday: [hours: string, at: string, within: boolean][] = [
    ['14:00-16:00', '05T19:00', true],
    ['14:00-16:00', '05T21:00', false],
    ['14:00-16:00', '11T18:00', true],
    ['Mon-Fri 22:00-02:00, Sun 10:00-12:00', '09T06:59', true],
    ['Mon-Fri 22:00-02:00, Sun 10:00-12:00', '10T06:59', false],
    ['Mon-Fri 22:00-02:00, Sun 10:00-12:00', '10T14:00', true],
  ];
  expect(sunday.map(([hours, text]) => isWithin(hours, 'America/New_York', at(text)))).toEqual(sunday.map(([, , within]) => within));
});

/** Answered, busy and then answered, silent, opted out, voicemail, answered; `0120` is refused. */
const numbers = ['0100', '0110', '0106', '0108', '0103', '0120', '0100'].map((end, index) => `+1${212 + index}555${end}`);
type Played = Evidence & { books: Books };
let honest: Played;
let spec: Played;

beforeAll(async () => {
  const play = async (dialect: 'spec' | 'extended'): Promise<Played> => {
    const campaigns = [{ campaignId: 'first', rules: buildRules(), rows: buildRows(numbers, (index) => `Guest ${index}`) }];
    return (await new Drive({ seed: 'judged', sandbox: { dialect }, campaigns }).run()).evidence as Played;
  };
  [honest, spec] = [await play('extended'), await play('spec')];
});

const one = <Value>(values: readonly Value[]): Value => {
  const [value] = values;
  if (value === undefined) throw new Error('nothing to spoil');
  return value;
};
const settled = ({ books }: Played, disposition?: string) =>
  one(books.attempts.filter((each) => each.state === 'settled' && (disposition === undefined || each.disposition === disposition)));
const talkIn = ({ books }: Played) => one(books.attempts.filter((each) => each.disposition === 'answered' && each.detail === null));
const finalOf = ({ finals }: Played, id: string) => one(finals.filter((each) => each.recipient_id === id));
const push = <Value>(to: readonly Value[], value: Value) => (to as Value[]).push(value);

test('a run without faults is acquitted, in both dialects', () => {
  expect([judge(honest), judge(spec)]).toEqual([[], []]);
  expect(honest.calls.length).toBeGreaterThan(6);
  expect(honest.books.attempts.some((each) => each.disposition === 'opted_out')).toBe(true);
});

/** Changes the first of them that is so. */
function set<Value extends object>(some: readonly Value[], is: Partial<Value>, change: Partial<Value>): void {
  const isMeant = (each: Value) => Object.entries(is).every(([key, value]) => each[key as keyof Value] === value);
  Object.assign(one(some.filter(isMeant)), change);
}

/** What is done to an honest run, and the rules that must speak up. */
type Forgery = [name: string, spoil: (run: Played) => unknown, ...broken: Rule[]];
const inBooks: readonly Forgery[] = [
  ['a call made twice for one request', ({ calls }) => {
    const { endedAt, ...was } = one(calls);
    push(calls, { ...was, callId: 'again', acceptedAt: (endedAt ?? 0) + 1_000, endedAt: (endedAt ?? 0) + 2_000 });
  }, 'an attempt dialled twice', 'called after an answer'],
  ['a second POST for an attempt that has its call', ({ calls, books }) => {
    const was = one(calls.filter(({ result }) => result === 'busy'));
    const at = (was.endedAt ?? 0) + 1_000;
    const dial = one(books.dials.filter((each) => `${each.batchId}/${each.k}` === was.requestId && each.e164 === was.to));
    push(books.dials, { ...dial, k: 2, at });
    push(books.posts, { ...one(books.posts), batch_id: dial.batchId, k: 2 });
    push(calls, { ...was, callId: 'again', batchId: 'again', requestId: `${dial.batchId}/2`, acceptedAt: at, endedAt: at + 1_000 });
  }, 'an attempt dialled twice'],
  ...['first/1/99/1', null].map((requestId): Forgery => [`a call of the request ${requestId}`, ({ calls }) => set(calls, {}, { requestId }),
    'called without a request', 'request and time disagree', 'wrong conversation', 'wrong disposition']),
  ['a call before its POST', ({ calls }) => set(calls, {}, { acceptedAt: one(calls).acceptedAt - 60_000 }), 'request and time disagree'],
  ['an attempt that was taken back, and has a call', ({ books }) => set(books.attempts, { state: 'settled' }, { state: 'released' }),
    'released, and called', 'wrong count'],
  ['a row of no list', ({ finals }) => push(finals, { ...one(finals), row_number: 99 }), 'not one outcome', 'wrong count'],
  ['a batch that was never settled', ({ books }) => set(books.batches, { state: 'confirmed' }, { state: 'unknown' }), 'no end'],
  ['an attempt that is still open', ({ books }) => set(books.attempts, { state: 'settled' }, { state: 'open' }), 'no end', 'wrong count'],
  ['a doubt although all replies came', ({ finals }) => set(finals, {}, { outcome: 'unresolved' }), 'in doubt without cause', 'wrong count'],
  ['a busy line told as no answer', ({ books }) => set(books.attempts, { disposition: 'busy' }, { disposition: 'no_answer' }),
    'wrong count', 'wrong disposition'],
  ['a silent call told as a talk', ({ books }) => set(books.attempts, { detail: 'silent' }, { detail: null }), 'wrong disposition'],
  ['a disposition out of nothing', ({ calls }) => (calls as unknown[]).shift(), 'wrong conversation', 'wrong disposition'],
  ['two recipients with each other’s conversations', ({ books }) => {
    const [mine, other] = books.attempts.filter((each) => each.disposition === 'answered' && each.detail === null);
    if (mine === undefined || other === undefined) return;
    [mine.conversation_id, other.conversation_id] = [other.conversation_id, mine.conversation_id];
  }, 'wrong conversation'],
  ['a record of nobody', ({ books }) => set(books.attempts, { disposition: 'busy' }, { conversation_id: 'other' }), 'wrong conversation'],
  ['a number dialled after its owner said no', ({ books }) => {
    const { e164, at } = one(books.dials);
    push(books.suppressions, { e164, scope: 'account', created_at: at - 1, expires_at: null });
  }, 'dialled though suppressed'],
  ['a count that drifted', ({ books }) => set(books.aggregates, { kind: 'outcome' }, { count: 99 }), 'wrong count'],
  ['a talk that came to something else', ({ calls }) => set(calls, { result: 'answered' }, { said: 'yes' }), 'wrong result'],
]; // prettier-ignore

test.each(inBooks)('the judge finds in the books %s', (_, spoil, ...broken) => {
  const run = structuredClone(honest);
  spoil(run);
  expect(rulesBroken(run)).toEqual(broken);
});

test('every rule of the judge can fire', () => {
  const fired = new Set([...forged.map(([rule]) => rule), ...inBooks.flatMap(([, , ...broken]) => broken)]);
  expect(rules.filter((rule) => !fired.has(rule))).toEqual([]);
});

test('in the documented dialect an answered call with an opening line of its own must be told as answered', () => {
  const run = structuredClone(spec);
  const attempt = talkIn(run);
  Object.assign(attempt, { disposition: 'unreached', conversation_id: null });
  expect(rulesBroken(run)).toEqual(['wrong count', 'wrong disposition']);
  // With shared words nobody could tell whose call it was.
  for (const each of run.books.attempts) each.opening_line = attempt.opening_line;
  expect(rulesBroken(run)).toEqual(['wrong count']);
});

test('a lost reply excuses what it destroyed, and nothing else', () => {
  const run = structuredClone(honest);
  const attempt = talkIn(run);
  Object.assign(attempt, { disposition: 'unknown', detail: 'held', conversation_id: null });
  Object.assign(finalOf(run, attempt.recipient_id), { outcome: 'unresolved' });
  const left = { ...run, calls: run.calls.filter(({ to }) => to !== attempt.e164) };
  const losing = (lost: string[]) => rulesBroken({ ...left, books: { ...run.books, lost } });
  expect(losing([`${attempt.batch_id}/1`])).toEqual(['wrong count']);
  expect(losing(['first/1/99/1'])).toEqual(['in doubt without cause', 'wrong count', 'wrong disposition']);
});

test('a lost reply excuses doubt about a call that was listed after it was settled, and never that nobody was reached', () => {
  const judged = (disposition: string, later: number, heldForMs = hourMs) => {
    const run = structuredClone(honest);
    const attempt = talkIn(run);
    const settledAt = Math.max(...run.books.dials.filter((dial) => dial.batchId === attempt.batch_id).map(({ at }) => at)) + heldForMs;
    set(run.calls, { conversationId: attempt.conversation_id }, { listedAt: settledAt + later });
    Object.assign(attempt, { disposition, detail: 'held', conversation_id: null, settled_at: settledAt });
    Object.assign(finalOf(run, attempt.recipient_id), { outcome: 'unresolved' });
    return rulesBroken({ ...run, books: { ...run.books, lost: [`${attempt.batch_id}/1`] } });
  };
  expect(judged('unknown', 1)).toEqual(['wrong count']);
  expect(judged('unknown', -1)).toEqual(['wrong count', 'wrong disposition']);
  expect(judged('unknown', 1, minuteMs)).toEqual(['wrong count', 'wrong disposition']);
  expect(judged('unreached', 1)).toContain('wrong disposition');
});

test.each([
  ['excuses doubt about a call whose record is known by its number', {}, ['of_nobody'], ['wrong count']],
  ['that can be read excuses none', {}, [], ['wrong count', 'wrong disposition']],
  ['excuses none where more is known', { evidence: 'reference' }, ['of_nobody'], ['wrong count', 'wrong disposition']],
])('after a lost reply a record of nobody %s', (_, change, unreadable, broken) => {
  const run = structuredClone(honest);
  const attempt = settled(run, 'busy');
  Object.assign(attempt, { disposition: 'unknown', detail: 'records_not_told_apart', evidence: 'number', ...change });
  Object.assign(finalOf(run, attempt.recipient_id), { outcome: 'unresolved', reason: 'records_not_told_apart' });
  const { at } = one(run.books.dials.filter(({ attemptId }) => attemptId === attempt.attempt_id));
  const nameless = { agent_id: attempt.agent_id, attempt_id: null, facts: JSON.stringify({ calleeNumber: null, durationMs: 9_000 }) };
  push(run.books.conversations, { conversation_id: 'of_nobody', first_seen_at: at, started_at: at + 90 * minuteMs, ...nameless });
  expect(rulesBroken({ ...run, books: { ...run.books, unreadable, lost: [`${attempt.batch_id}/1`] } })).toEqual(broken);
});

/** A busy call left in doubt, as the ledger tells it. */
function leaveInDoubt(detail: string) {
  const run = structuredClone(honest);
  const attempt = settled(run, 'busy');
  set(run.calls, { conversationId: attempt.conversation_id }, { conversationId: null, visible: false });
  Object.assign(attempt, { disposition: 'unknown', detail, conversation_id: null });
  Object.assign(finalOf(run, attempt.recipient_id), { outcome: 'unresolved', reason: detail });
  return { run, attempt };
}

const doubtRules = ['in doubt without cause', 'wrong count', 'wrong disposition'];

test.each(['records_not_told_apart', 'no_record_shown', 'clock_stepped'])('a doubt that the run shows no reason for (%s)', (detail) => {
  expect(rulesBroken(leaveInDoubt(detail).run)).toEqual(doubtRules);
});

test('that no record was shown excuses doubt only until it is found whose one is that shows it of itself to nobody', () => {
  const { run, attempt } = leaveInDoubt('no_record_shown');
  const { attempts, conversations } = run.books;
  const found = (later: number): void =>
    conversations.forEach((row) => Object.assign(row, { given_at: (attempt.settled_at ?? 0) + later }));
  found(1);
  expect(rulesBroken(run)).toEqual(doubtRules);
  for (const row of attempts) row.opening_line = attempt.opening_line;
  for (const row of conversations) row.facts = JSON.stringify({ ...JSON.parse(row.facts), calleeNumber: null, references: [] });
  expect(rulesBroken(run)).not.toContain('in doubt without cause');
  found(-1);
  expect(rulesBroken(run)).toContain('in doubt without cause');
});

test.each([
  ['excuses a doubt', {}, ['wrong count']],
  ['of somebody does not', { attempt_id: 'first/1/1' }, doubtRules],
  ['of another agent does not', { agent_id: 'another' }, doubtRules],
  ['of another time does not', { started_at: 0 }, doubtRules],
  ['that shows another number does not', { facts: JSON.stringify({ calleeNumber: '+12125550199' }) }, doubtRules],
])('a record of nobody %s', (_, change, broken) => {
  const { run, attempt } = leaveInDoubt('records_not_told_apart');
  const own = { conversation_id: 'of_nobody', agent_id: attempt.agent_id, attempt_id: null, facts: JSON.stringify({ calleeNumber: null }) };
  const { at } = one(run.books.dials.filter(({ attemptId }) => attemptId === attempt.attempt_id));
  push(run.books.conversations, { first_seen_at: at, started_at: at + 1_000, ...own, ...change });
  expect(rulesBroken(run)).toEqual(broken);
});

// What is gathered of a world

const drawn = drawWorld(1, 'apart_bare_records');
const [ada = '', ben = ''] = drawn.people.map(({ e164 }) => e164);

test.each([
  ['nobody where no rule says so', [], []],
  ['by what they said', [askingResult], [ada]],
])('of the calls that the service made for us who asks for another: %s', (_, results, asking) => {
  const campaigns = drawn.mix.campaigns.map((plan) => ({ ...plan, rules: { ...plan.rules, results } }));
  const talk = call(ada, 0, { collected: { appointment: 'declined' } } as object);
  const others = [call(ada, 1, { batchId: null }), call(ada, 2, { dialedAt: null }), call(ben, 3, { dialedAt: null, endedAt: null })];
  const run = { evidence: {}, ledger: {}, deeds: [], faults: [], calls: [talk, ...others].map((each) => ({ collected: {}, ...each })) };
  const gathered = gatherWorld({ ...drawn, mix: { ...drawn.mix, campaigns } }, run as unknown as Outcome).calls;
  expect(gathered.map(({ to }) => to)).toEqual([ada, ben]);
  expect(gathered.flatMap(({ to, again }) => (again === undefined ? [] : [to]))).toEqual(asking);
});

test('rows that were not reached although attempts were left are counted', () => {
  const of = (to: string, nth: number, more = {}) => call(to, nth * 30 * minuteMs, { requestId: `first/1/${nth}/1`, ...more }) as CallTruth;
  const made = [0, 1, 2].map((nth) => of(ada, nth));
  expect(countGivenUp(drawn, [...made, of(ben, 0, answered)])).toBe(drawn.people.length - 2);
});
