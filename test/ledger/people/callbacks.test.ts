import { expect } from 'vitest';
import { cancelCallback, CallbackRefusedError, listCallbacks, setCallback } from '../../../src/ledger/people/callbacks.ts';
import { RecipientEditor } from '../../../src/ledger/people/edit-recipients.ts';
import { findCallingRunCampaign, findActiveRunCampaign, recordScheduledRun } from '../../../src/ledger/campaign/schedules.ts';
import { withdrawRecipients } from '../../../src/ledger/people/withdraw-recipients.ts';
import { readFigures } from '../../../src/ledger/read/figures.ts';
import { drainCampaign } from '../../../src/ledger/rows/campaigns.ts';
import type { CallbackRules } from '../../../src/rules/callback-rules.ts';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import type { ResultRule } from '../../../src/rules/talk-results.ts';
import { buildRow, callbackRules, collectedRule, dayMs, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, openLedger, unjudged } from '../ledger-test.ts';

// Noon in London: seven in New York, where they live.
const [ada = '', ben = '', cleo = ''] = numbers(3);
const results: ResultRule[] = [
  collectedRule('callback', 'later', [true], { next: { kind: 'callback' } }),
  collectedRule('done', 'later', [false], { goal: true }),
];

interface Given {
  people?: string[];
  callback?: Partial<CallbackRules>;
  rules?: RulesChanges;
  campaignId?: string;
}

async function begin(dialect: TestDialect, given: Given = {}, store = openLedger(dialect)): Promise<Scenario> {
  const { people = [ada], rules, campaignId = 'spring' } = given;
  const rows = people.map((e164, at) => ({ ...buildRow(at + 1, e164, [e164, `Guest ${at}`]), externalId: `id-${at + 1}` }));
  return beginProven(await store, { campaignId, rows, rules: { results, callback: { ...callbackRules, ...given.callback }, ...rules } });
}

const talk = (name: string, at: number, said: string | null, more: Partial<ConversationFacts> = {}) => ({
  ...answered(name, ada, at),
  collected: said === null ? { later: false } : { later: true, callback_at: said },
  ...more,
});

async function asked(dialect: TestDialect, said: string, given: Given = {}): Promise<Scenario> {
  const scenario = await begin(dialect, given);
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, said)]);
  return scenario;
}

async function row(scenario: Scenario) {
  const [first] = await scenario.recipients();
  return first;
}

async function promises({ store, campaignId }: Scenario, now = noon) {
  return listCallbacks(store.db, { campaignId, now });
}

const at5pm = Date.UTC(2030, 0, 15, 22, 0);

test.from(asked, '2030-01-15 17:00')('a promise is kept at its time, by the clock of the callee, and not before', async (scenario) => {
  expect(await row(scenario)).toMatchObject({ state: 'waiting', outcome: null, result: 'callback', due_at: at5pm, rank: -1 });
  expect(await promises(scenario)).toMatchObject([
    { row: 1, state: 'open', dueAt: at5pm, untilAt: at5pm + 30 * minuteMs, local: '2030-01-15 17:00', said: '2030-01-15 17:00' },
  ]);
  expect(await scenario.plan(2, at5pm - 1)).toMatchObject(waits('due', at5pm));
  await scenario.dial(2, at5pm);
  await scenario.sweep(at5pm + 2 * minuteMs, [talk('two', at5pm + 5_000, null)]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', result: 'done', promise_id: null });
  expect(await promises(scenario)).toMatchObject([{ state: 'kept', reason: 'answered', keptBy: 'spring/1/2' }]);
});

test('whoever does not answer then is called as others are, with a budget of its own', async (dialect) => {
  const scenario = await asked(dialect, '2030-01-15 17:00', { rules: { retry: { maxAttempts: 2 } } });
  await scenario.dial(2, at5pm);
  await scenario.sweep(at5pm + 2 * minuteMs, [talk('two', at5pm + 5_000, null, { callResult: 'no_answer', userTurns: 0, agentTurns: 0 })]);
  expect(await promises(scenario)).toMatchObject([{ state: 'kept', reason: 'no_answer' }]);
  const again = at5pm + 12 * minuteMs;
  expect(await row(scenario)).toMatchObject({ state: 'waiting', due_at: again, rank: 0, promise_id: null });
  await scenario.dial(3, again);
  await scenario.sweep(again + 2 * minuteMs, [
    talk('three', again + 5_000, null, { callResult: 'no_answer', userTurns: 0, agentTurns: 0 }),
  ]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'exhausted' });
});

test('a worker that was down calls nobody late by habit: it is told, and a person decides', async (dialect) => {
  const scenario = await asked(dialect, '2030-01-15 17:00');
  const late = at5pm + 40 * minuteMs;
  expect(await promises(scenario, late)).toMatchObject([{ state: 'open', isOverdue: true }]);
  const { callbacks } = await readFigures(scenario.store.db, await scenario.campaign(), late);
  expect(callbacks).toEqual({ open: 1, overdue: 1, unclear: 0 });
  expect(await scenario.plan(2, late)).toMatchObject({ kind: 'done' });
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', reason: 'callback_missed', result: 'callback' });
  expect(await promises(scenario)).toMatchObject([{ state: 'missed', reason: 'late' }]);
});

test('one that was planned in time and not sent is not sent late', async (dialect) => {
  const scenario = await asked(dialect, '2030-01-15 17:00', { callback: { missed: 'retry' } });
  await scenario.plan(2, at5pm);
  const late = at5pm + 31 * minuteMs;
  expect(await scenario.post(2, late)).toMatchObject({ kind: 'verdict', state: 'released' });
  await scenario.plan(3, late);
  expect(await promises(scenario)).toMatchObject([{ state: 'missed' }]);
  // Called as after no answer: at once, when a line is free.
  expect(await scenario.attempts()).toMatchObject([{ state: 'settled' }, { state: 'released' }, { state: 'planned' }]);
});

test.from(asked, '2030-01-15 17:00', {
  callback: { missed: 'next_day' },
  rules: { calendar: { hours: null, closedOn: ['2030-01-16'] } },
})('a missed one is called at the same time of the next day that is open', async (scenario) => {
  // The 15th is a Tuesday; nobody is called on the 16th.
  expect(await scenario.plan(2, at5pm + 40 * minuteMs)).toMatchObject({ kind: 'wait', until: at5pm + 2 * dayMs });
  expect(await promises(scenario)).toMatchObject([{ state: 'open', dueAt: at5pm + 2 * dayMs, local: '2030-01-17 17:00' }]);
  await scenario.dial(2, at5pm + 2 * dayMs);
});

test('what is not clear is left to a person, with the words; or called as after no answer', async (dialect) => {
  const scenario = await asked(dialect, 'when I am back');
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', result: 'callback' });
  expect(await promises(scenario)).toMatchObject([{ state: 'unclear', reason: 'not_understood', said: 'when I am back', dueAt: null }]);
  const retried = await asked(dialect, 'when I am back', { callback: { unclear: 'retry' } });
  expect(await row(retried)).toMatchObject({ state: 'waiting', due_at: noon + 12 * minuteMs, rank: 0 });
  await retried.dial(2, noon + 12 * minuteMs);
  const old = await asked(dialect, 'when I am back', { callback: { unclear: 'retry', words: 'en' } });
  expect(await row(old)).toMatchObject({ state: 'done', outcome: 'completed' });
  expect(await promises(old)).toMatchObject([{ state: 'unclear', reason: 'not_understood' }]);
  // Closed then: 21:00 would ring at eight in the morning.
  const hours = { tue: [{ from: 6 * 60, to: 20 * 60 }], wed: [{ from: 8 * 60, to: 20 * 60 }] };
  const closed = await asked(dialect, '2030-01-15 21:00', { rules: { calendar: { hours, closedOn: [] } } });
  expect(await promises(closed)).toMatchObject([{ state: 'unclear', reason: 'outside_hours' }]);
});

test('no other campaign calls the number before, and what it hears then calls the promise off', async (dialect) => {
  const scenario = await asked(dialect, '2030-01-15 17:00');
  const other = await begin(dialect, { campaignId: 'autumn' }, Promise.resolve(scenario.store));
  const until = at5pm + 30 * minuteMs;
  expect(await other.plan(1, noon + hourMs)).toMatchObject({ kind: 'wait', until });
  // Planned before anything was promised, and sent after.
  await other.store.db.updateTable('recipients').set({ due_at: noon }).where('campaign_id', '=', 'autumn').execute();
  await other.store.db.updateTable('promises').set({ state: 'cancelled' }).execute();
  await other.plan(1, noon + hourMs);
  await other.store.db.updateTable('promises').set({ state: 'open' }).execute();
  expect(await other.post(1, noon + hourMs)).toMatchObject({ kind: 'verdict', state: 'released' });
});

test('a talk with them elsewhere ends the promise, and nobody calls for it', async (dialect) => {
  unjudged();
  const scenario = await begin(dialect);
  const other = await begin(dialect, { campaignId: 'autumn' }, Promise.resolve(scenario.store));
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, '2030-01-15 17:00')]);
  await scenario.store.db.updateTable('promises').set({ state: 'cancelled' }).execute();
  await other.dial(1, noon + hourMs);
  await scenario.store.db.updateTable('promises').set({ state: 'open' }).execute();
  await other.sweep(noon + hourMs + 2 * minuteMs, [talk('two', noon + hourMs + 5_000, null)]);
  expect(await promises(scenario)).toMatchObject([{ state: 'cancelled', reason: 'talked_to' }]);
  await scenario.plan(2, at5pm);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', reason: 'callback_called_off' });
});

test('what is heard late of an earlier talk takes no promise back', async (dialect) => {
  unjudged();
  const store = openLedger(dialect);
  const other = await begin(dialect, { campaignId: 'autumn' }, store);
  const [early = ''] = await other.dial(1, noon - hourMs);
  await other.settle(early, 'no_answer', noon - hourMs + minuteMs);
  const scenario = await begin(dialect, {}, store);
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, '2030-01-15 17:00')]);
  await other.settle(early, 'answered', noon + hourMs);
  expect(await promises(scenario)).toMatchObject([{ state: 'open', dueAt: at5pm }]);
});

test('a person who is withdrawn, or put on the do-not-call list, is not called back', async (dialect) => {
  unjudged();
  const withdrawn = await asked(dialect, '2030-01-15 17:00');
  await withdrawRecipients(withdrawn.store, { ...withdrawn.at(noon + hourMs), note: null, dryRun: false }, { rows: [1] });
  expect(await promises(withdrawn)).toMatchObject([{ state: 'cancelled', reason: 'withdrawn' }]);
  expect(await withdrawn.broken()).toEqual([]);
  const suppressed = await asked(dialect, '2030-01-15 17:00');
  await suppressed.suppress(ada, {}, noon + hourMs);
  await suppressed.plan(2, at5pm);
  expect(await row(suppressed)).toMatchObject({ state: 'done', outcome: 'suppressed' });
  expect(await promises(suppressed)).toMatchObject([{ state: 'cancelled', reason: 'suppressed' }]);
});

test.from(asked, '2030-01-15 17:00')('a campaign that is drained ends its promises, and says so', async (scenario) => {
  await scenario.store.transaction((tx) => drainCampaign(tx, { campaignId: 'spring', now: noon + hourMs }, { why: 'drained' }));
  expect(await scenario.plan(2, noon + hourMs)).toMatchObject({ kind: 'done' });
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'cancelled', reason: 'drained' });
  expect(await promises(scenario)).toMatchObject([{ state: 'cancelled', reason: 'drained' }]);
});

test('a corrected zone moves the promise with the clock, a corrected number with the row', async (dialect) => {
  const scenario = await asked(dialect, '2030-01-15 17:00');
  const editor = new RecipientEditor(scenario.store, { campaignId: 'spring', restore: false, dryRun: false });
  const moved = { ...buildRow(1, ben, [ben, 'Guest 0']), externalId: 'id-1', zones: ['America/Los_Angeles'], regions: ['CA'] };
  expect(await editor.apply([moved], noon + hourMs)).toMatchObject([{ result: 'corrected' }]);
  expect(await promises(scenario)).toMatchObject([{ state: 'open', dueAt: at5pm + 3 * hourMs, local: '2030-01-15 17:00' }]);
  expect(await row(scenario)).toMatchObject({ due_at: at5pm + 3 * hourMs, rank: -1, e164: ben });
  await scenario.dial(2, at5pm + 3 * hourMs);
});

test.from(begin, { people: [ada, ben, cleo] })('a person has somebody called back, moves it, and takes it back', async (scenario) => {
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, null)]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed' });
  const wish = { campaignId: 'spring', row: 1, by: 'Dana', now: noon + 10 * minuteMs };
  expect(await setCallback(scenario.store, wish, { local: '2030-01-15 16:00' })).toBe(at5pm - hourMs);
  expect(await row(scenario)).toMatchObject({ state: 'waiting', outcome: null, due_at: at5pm - hourMs, rank: -1 });
  await setCallback(scenario.store, wish, { instant: at5pm });
  expect(await promises(scenario)).toMatchObject([{ state: 'open', dueAt: at5pm, madeBy: 'Dana' }]);
  const stands = async () => [await row(scenario), await scenario.store.db.selectFrom('events').selectAll().execute()];
  const before = await stands();
  await setCallback(scenario.store, { ...wish, now: wish.now + minuteMs }, { instant: at5pm });
  expect(await stands()).toEqual(before);
  await expect(setCallback(scenario.store, wish, { local: '2030-01-14 16:00' })).rejects.toThrow(CallbackRefusedError);
  await expect(setCallback(scenario.store, { ...wish, row: 2 }, { instant: at5pm })).rejects.toThrow('planned or open');
  await expect(setCallback(scenario.store, { ...wish, row: 9 }, { instant: at5pm })).rejects.toThrow('no row 9');
  await cancelCallback(scenario.store, wish);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed', reason: 'callback_called_off' });
  await setCallback(scenario.store, wish, { instant: at5pm });
  await scenario.dial(2, at5pm);
  await scenario.sweep(at5pm + 2 * minuteMs, [talk('two', at5pm + 5_000, null)]);
  expect((await promises(scenario)).map(({ state }) => state)).toEqual(['kept', 'cancelled']);
});

test('whoever asks for it in each call is called back three times, and then a person decides', async (dialect) => {
  const scenario = await begin(dialect, { callback: { at: { kind: 'in', key: 'minutes' } } });
  let at = noon;
  for (const nth of [1, 2, 3, 4]) {
    await scenario.dial(nth, at);
    const collected = { later: true, minutes: 10 };
    await scenario.sweep(at + 2 * minuteMs, [talk(`talk ${nth}`, at + 5_000, null, { collected })]);
    at += 11 * minuteMs;
  }
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed' });
  expect((await promises(scenario)).map(({ state, reason }) => [state, reason])).toEqual([
    ['unclear', 'too_often'],
    ['kept', 'answered'],
    ['kept', 'answered'],
    ['kept', 'answered'],
  ]);
});

test('whoever names the same instant again in the call that was made for it is not called in a circle', async (dialect) => {
  const scenario = await asked(dialect, '2030-01-15T17:00:00-05:00');
  await scenario.dial(2, at5pm);
  await scenario.sweep(at5pm + 2 * minuteMs, [talk('two', at5pm + 5_000, '2030-01-15T17:00:00-05:00')]);
  expect(await row(scenario)).toMatchObject({ state: 'done', outcome: 'completed' });
  expect(await promises(scenario)).toMatchObject([{ state: 'unclear', reason: 'past' }, { state: 'kept' }]);
});

test('of two promises to one number the second is left to a person', async (dialect) => {
  unjudged();
  const scenario = await begin(dialect);
  const other = await begin(dialect, { campaignId: 'autumn' }, Promise.resolve(scenario.store));
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, '2030-01-15 17:00')]);
  await other.store.db.updateTable('promises').set({ state: 'cancelled' }).execute();
  await other.dial(1, noon + 3 * minuteMs);
  await other.store.db.updateTable('promises').set({ state: 'open' }).execute();
  await expect(
    setCallback(other.store, { campaignId: 'spring', row: 1, by: 'Dana', now: noon }, { instant: at5pm + hourMs }),
  ).resolves.toBe(at5pm + hourMs);
  await other.store.db.updateTable('promises').set({ state: 'open' }).execute();
  // The talk ends what was promised before; what it asks for is the only promise.
  await other.sweep(noon + 5 * minuteMs, [talk('two', noon + 3 * minuteMs + 5_000, '2030-01-15 18:00')]);
  expect(await promises(scenario)).toMatchObject([{ state: 'cancelled', reason: 'talked_to' }]);
  expect(await promises(other)).toMatchObject([{ state: 'open', dueAt: at5pm + hourMs }]);
});

test('the judge finds a call before its time, and a promise that nobody kept', async (dialect) => {
  unjudged();
  const early = await asked(dialect, '2030-01-15 17:00');
  const { db } = early.store;
  await db.updateTable('promises').set({ due_at: noon }).execute();
  await db.updateTable('recipients').set({ due_at: noon }).execute();
  await early.dial(2, noon + hourMs);
  expect(await early.broken()).toEqual(['promise_broken_early', 'retry_too_early']);
  const lost = await asked(dialect, '2030-01-15 17:00');
  await lost.store.db.updateTable('promises').set({ until: noon }).execute();
  await lost.plan(2, noon + hourMs);
  expect(await lost.broken()).toEqual(['promise_lost']);
});

test('a campaign that has nobody left but whom it calls back does not hold its schedule up', async (dialect) => {
  const schedule = { campaignId: 'daily', scheduleId: 'daily' };
  const scenario = await begin(dialect, { people: [ada, ben], campaignId: 'daily-1', rules: { pacing: { batchSize: 1 } } });
  const firing = { scheduleId: 'daily', campaignId: 'daily-1', scheduledAt: noon, failure: null };
  await recordScheduledRun(scenario.store, firing, { parentId: 'daily', now: noon });
  const calling = async () => (await findCallingRunCampaign(scenario.store.db, schedule))?.campaignId;
  await scenario.dial(1);
  await scenario.sweep(noon + 2 * minuteMs, [talk('one', noon + 5_000, '2030-01-15 17:00')]);
  // Ben waits to be called.
  expect(await calling()).toBe('daily-1');
  await scenario.dial(2, noon + 3 * minuteMs);
  expect(await calling()).toBe('daily-1');
  await scenario.sweep(noon + 6 * minuteMs, [talk('two', noon + 3 * minuteMs + 5_000, null, { calleeNumber: ben })]);
  const wait = await scenario.plan(3, noon + 7 * minuteMs);
  expect(wait).toMatchObject({ kind: 'wait', reason: 'due', until: at5pm, onlyPromises: true });
  expect(await calling()).toBeUndefined();
  expect(await findActiveRunCampaign(scenario.store.db, schedule)).toMatchObject({ campaignId: 'daily-1', state: 'running' });
});
