import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { readCallerUse } from '../../src/ledger/limits/callers.ts';
import { pauseCampaign } from '../../src/ledger/rows/campaigns.ts';
import type { EventData } from '../../src/rules/events.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { closeRound } from '../../src/ledger/campaign/rounds.ts';
import { plainNumbers, startTestSandbox, type TestSandbox } from '../sandbox/harness.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { dialects } from '../ledger/test-stores.ts';
import { buildRows, minuteMs, type RulesChanges, hourMs } from '../support/campaign-rules.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { checkCallers } from '../../activities/check-callers.ts';
import { beginCampaign, noon } from '../ledger/scenario.ts';
import { campaignId, connectClient, everybody, keepLog, Steps } from './steps.ts';

const mostMinutes = 600;

/** The test moves both clocks; a minute passes between two checks. */
class CallerRun extends Steps {
  readonly sandbox: TestSandbox;
  readonly log: () => string;
  #verified = false;
  #n = 1;

  constructor(sandbox: TestSandbox, deps: ActivityDependencies, log: () => string) {
    super(deps);
    [this.sandbox, this.log] = [sandbox, log];
  }

  now(): number {
    return this.sandbox.clock.now();
  }

  setVerified(phoneNumberId: string, verified: boolean) {
    return this.sandbox.request('POST', `/_sandbox/numbers/${phoneNumberId}/${verified ? 'verify' : 'unverify'}`);
  }

  async minute(): Promise<'done' | 'goes on'> {
    this.#verified ||= (await this.activities.checkCallers({ campaignId })).ok;
    for (let planned = this.#verified; planned;) {
      const next = await this.plan(this.#n);
      if (next.kind === 'done') return 'done';
      planned = next.kind === 'batch';
      if (next.kind !== 'batch') break;
      await this.activities.submit({ batchId: next.batchId });
      this.#n += 1;
    }
    this.sandbox.clock.advance(minuteMs);
    await this.sweep();
    return 'goes on';
  }

  async minutes(count: number): Promise<void> {
    for (let passed = 0; passed < count; passed += 1) await this.minute();
  }

  async untilEnd(): Promise<void> {
    for (let passed = 0; passed < mostMinutes; passed += 1) {
      if ((await this.minute()) === 'goes on') continue;
      const { closed } = await this.activities.closeRound({ campaignId, round: 1 });
      if (closed) return;
    }
    throw new Error(`it never ends: ${JSON.stringify(await this.campaign())}`);
  }

  resume() {
    return this.activities.changeState({ campaignId, change: 'resume' });
  }

  async expectSound(): Promise<void> {
    expect(await this.violations()).toEqual([]);
    const rows = await this.store.db.selectFrom('recipients').select(['outcome']).execute();
    expect(rows.filter(({ outcome }) => outcome === null)).toEqual([]);
  }
}

async function begin(numbers: string[], rules: RulesChanges = {}): Promise<CallerRun> {
  const sandbox = await startTestSandbox({ outcomeMix: everybody });
  const store = await openCleanStore('sqlite');
  const now = () => sandbox.clock.now();
  const { logger, read } = keepLog();
  const accountId = sandbox.url;
  const client = connectClient(accountId, now);
  const deps = buildDependencies({ store: { ...store, now: async () => now() }, client, logger, now, accountId });
  const pacing = { maxConcurrentCalls: 6, batchSize: 3, refillThreshold: 1 };
  const rows = buildRows(plainNumbers(60), (index) => `Guest ${index}`);
  await beginCampaign(store, { rules: { callers: { numbers, choice: 'rotation' }, pacing, ...rules }, rows, accountId, now: now() });
  return new CallerRun(sandbox, deps, read);
}

async function toldOf({ store }: CallerRun) {
  const events = await readEvents(store.db, campaignId, {
    afterSeq: 0,
    limit: 1000,
    types: ['caller.out', 'caller.in'],
  });
  return events.map(({ type, data }) => {
    const { phoneNumberId, reason } = data as Partial<EventData['caller.out']>;
    return [type, phoneNumberId, reason];
  });
}

/** Caller numbers in the service's records, from the nth call on. */
async function callersOf({ sandbox }: CallerRun, from: number): Promise<Set<string>> {
  const callers = new Set<string>();
  for (const { conversationId } of sandbox.calls().slice(from)) {
    const { body } = await sandbox.get(`/v1/convai/conversations/${conversationId}`);
    callers.add(String(body.metadata?.phone_call?.phone_number_id));
  }
  return callers;
}

const three = ['pn_main', 'pn_second', 'pn_unverified'];

test('before the first call every number is looked up: where it is from, and whether it may call', async () => {
  const run = await begin([...three, 'pn_nowhere']);
  expect(await run.activities.checkCallers({ campaignId })).toEqual({ ok: true });
  const rows = await run.store.db.selectFrom('callers').selectAll().orderBy('position').execute();
  const facts = rows.map((row) => [row.phone_number_id, row.e164, row.country, row.regions, row.out, row.reason]);
  expect(facts).toEqual([
    ['pn_main', '+12125550199', 'US', '["NY"]', 0, null],
    ['pn_second', '+13125550198', 'US', '["IL"]', 0, null],
    ['pn_unverified', '+14155550197', 'US', '["CA"]', 1, 'not_verified'],
    ['pn_nowhere', null, null, null, 1, 'unknown'],
  ]);
  expect(new Set(rows.map((row) => row.checked_at))).toEqual(new Set([run.now()]));
  expect(await run.campaign()).toMatchObject({ state: 'running', callerProven: true });
});

test('one of three numbers loses its verification on the way: it is taken out, and the campaign completes', async () => {
  const run = await begin(three);
  await run.setVerified('pn_unverified', true);
  await run.minutes(5);
  expect(await callersOf(run, 0)).toEqual(new Set(three));
  await run.setVerified('pn_second', false);
  await run.minutes(12);
  expect(await toldOf(run)).toEqual([['caller.out', 'pn_second', 'not_verified']]);
  const before = run.sandbox.calls().length;
  await run.untilEnd();
  expect(await callersOf(run, before)).toEqual(new Set(['pn_main', 'pn_unverified']));
  expect((await run.campaign()).state).toBe('completed');
  await run.expectSound();
  const outcomes = await run.store.db.selectFrom('recipients').select('outcome').distinct().execute();
  expect(outcomes.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'opted_out')).toEqual(['completed']);
});

test('a number that is verified again is taken in again at the next look', async () => {
  const run = await begin(three);
  await run.minutes(3);
  await run.setVerified('pn_unverified', true);
  await run.minutes(12);
  expect(await toldOf(run)).toEqual([
    ['caller.out', 'pn_unverified', 'not_verified'],
    ['caller.in', 'pn_unverified', undefined],
  ]);
  await run.untilEnd();
  const use = await readCallerUse(run.store.db, await run.campaign());
  expect(use.every(({ calls, out }) => calls > 0 && out === null)).toBe(true);
  await run.expectSound();
});

test('no number may call: nothing is dialled, and the reason names each of them', async () => {
  const run = await begin(['pn_unverified', 'pn_nowhere']);
  await run.minutes(2);
  expect(run.sandbox.calls()).toEqual([]);
  expect(await run.campaign()).toMatchObject({
    state: 'paused',
    stateReason:
      'None of the 2 caller numbers may call (pn_unverified is not verified, pn_nowhere is not known to the service): fix one of them with the service, then resume.',
  });
  await run.setVerified('pn_unverified', true);
  await run.resume();
  await run.untilEnd();
  await run.expectSound();
});

test('the only number loses its verification: the campaign pauses with the evidence, and goes on when a person has mended it', async () => {
  const run = await begin(['pn_main']);
  await run.minutes(3);
  await run.setVerified('pn_main', false);
  await run.minutes(12);
  const paused = await run.campaign();
  expect(paused.state).toBe('paused');
  expect(paused.stateReason).toMatch(
    /^Phone number pn_main is not verified, so its calls would fail: verify it with the service, then resume\. Of the last \d+ calls of pn_main [5-9] failed\.$/,
  );
  const placed = run.sandbox.calls().length;

  // Resumed with the fault still present, it pauses again before any call.
  await run.resume();
  await run.minutes(2);
  expect((await run.campaign()).state).toBe('paused');
  expect(run.sandbox.calls().length).toBe(placed);

  await run.setVerified('pn_main', true);
  await run.resume();
  await run.untilEnd();
  expect(await toldOf(run)).toEqual([
    ['caller.out', 'pn_main', 'not_verified'],
    ['caller.in', 'pn_main', undefined],
  ]);
  await run.expectSound();
});

test('a service that cannot be asked about the numbers stops nothing, and is asked again in its time', async () => {
  const run = await begin(three);
  await run.minutes(1);
  const looks = () => run.sandbox.journal().filter((entry) => entry.operation === 'list_phone_numbers').length;
  const [before, begunAt] = [looks(), run.now()];
  run.sandbox.addFaults([{ id: 'down', operation: 'list_phone_numbers', effect: { type: 'error', status: 404, when: 'before' } }]);
  await run.untilEnd();
  expect((await run.campaign()).state).toBe('completed');
  expect(run.log()).toContain('could not be looked at');
  expect(run.log()).not.toMatch(/\+1\d{10}/);
  expect(looks() - before).toBeGreaterThan(0);
  expect(looks() - before).toBeLessThanOrEqual(Math.ceil((run.now() - begunAt) / (10 * minuteMs)));
});

test('a pause that ends by itself looks at the numbers before anything is dialled', async () => {
  const run = await begin(['pn_main']);
  await run.minutes(1);
  const placed = run.sandbox.calls().length;
  await run.setVerified('pn_main', false);
  const resumeAt = run.now() + 11 * minuteMs;
  await run.store.db.updateTable('campaigns').set({ state: 'paused', resume_at: resumeAt }).execute();
  await run.minutes(14);
  expect(await run.campaign()).toMatchObject({
    state: 'paused',
    stateReason: expect.stringContaining('pn_main is not verified'),
  });
  expect(run.sandbox.calls().length).toBe(placed);
});

test.for(dialects)('a campaign that is paused before its first check ends at its end, although nobody resumes it: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const endsAt = noon + hourMs;
  const scenario = await beginCampaign(store, { rules: { endsAt } });
  let now = noon;
  const deps = buildDependencies({ store, now: () => now, serviceClock: { speed: 60 } });
  await pauseCampaign(store, { campaignId, now: noon }, { reason: 'the number is not verified' });
  expect(await checkCallers(deps, { campaignId })).toEqual({ ok: false, inMs: hourMs / 60, pausedAt: null });
  now = endsAt;
  expect(await checkCallers(deps, { campaignId })).toEqual({ ok: true });
  expect(await scenario.plan(1, now)).toEqual({ kind: 'done' });
  expect(await closeRound(store, { campaignId, now }, 1)).toBe(true);
  const outcomes = new Set((await scenario.recipients()).map(({ outcome }) => outcome));
  expect(outcomes).toEqual(new Set(['expired']));
});

test('without an end only a person helps', async () => {
  const store = await openCleanStore('sqlite');
  await beginCampaign(store);
  await pauseCampaign(store, { campaignId, now: noon }, { reason: 'the number is not verified' });
  const deps = buildDependencies({ store });
  expect(await checkCallers(deps, { campaignId })).toEqual({ ok: false, inMs: null, pausedAt: null });
});
