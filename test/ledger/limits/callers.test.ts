import { expect } from 'vitest';
import { explainFaults, type CallerFault, type CallerStatus } from '../../../src/rules/caller-choice.ts';
import { claimCallerCheck, noteCallers, readCallerUse } from '../../../src/ledger/limits/callers.ts';
import type { EventData } from '../../../src/rules/events.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import { buildRows, buildRules, minuteMs } from '../../support/campaign-rules.ts';
import { noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { ImportRow } from '../../../src/ledger/campaign/row-hash.ts';
import { test, beginOn, unjudged } from '../ledger-test.ts';

const pool = ['pn_ny', 'pn_fl', 'pn_uk'];
const places: Record<string, Pick<CallerStatus, 'country' | 'regions'>> = {
  pn_ny: { country: 'US', regions: ['NY'] },
  pn_fl: { country: 'US', regions: ['FL'] },
  pn_uk: { country: 'GB', regions: null },
};

function standings(ids: readonly string[], faults: Record<string, CallerFault> = {}): CallerStatus[] {
  return ids.map((phoneNumberId) => ({
    phoneNumberId,
    e164: '+12125550199',
    ...(places[phoneNumberId] ?? { country: 'US', regions: null }),
    fault: faults[phoneNumberId] ?? null,
    verified: true,
  }));
}

function rowsOf(...regions: string[]): ImportRow[] {
  return buildRows(numbers(regions.length), (index) => `Guest ${index}`).map((row, index) => ({
    ...row,
    regions: [regions[index] ?? ''],
  }));
}

async function look(scenario: Scenario, faults: Record<string, CallerFault> = {}, now = noon): Promise<void> {
  const campaign = await scenario.campaign();
  const found = standings(campaign.rules.callers.numbers, faults);
  const reason = found.every(({ fault }) => fault !== null) ? explainFaults(found) : null;
  await noteCallers(scenario.store, campaign, { standings: found, faults: reason, now });
}

async function batchOf(scenario: Scenario, n: number): Promise<[string | null, number[]]> {
  const attempts = (await scenario.attempts()).filter((row) => row.batch_id === scenario.batchId(n));
  const rows = attempts.map((row) => Number(row.recipient_id.split('/')[1]));
  return [(await scenario.batch(n))?.caller ?? null, rows];
}

async function events(scenario: Scenario) {
  const all = await readEvents(scenario.store.db, scenario.campaignId, {
    afterSeq: 0,
    limit: 1000,
    types: ['caller.out', 'caller.in'],
  });
  return all.map(({ type, data }) => [type, data]);
}

const pacing = { refillThreshold: 1 };

test.from(beginOn, {
  rules: { pacing, callers: { numbers: pool, choice: 'region' } },
  rows: rowsOf('FL', 'NY', 'FL', 'TX', 'NY', 'TX'),
})('a request has one number, and the first who is due decides which', async (scenario) => {
  await look(scenario);
  await scenario.dial(1);
  await scenario.dial(2);
  expect(await scenario.plan(3)).toMatchObject({ kind: 'wait' });
  // Nobody's own state is Texas: its people get the number chosen least often, in their country.
  expect(await batchOf(scenario, 1)).toEqual(['pn_fl', [1, 3, 6]]);
  expect(await batchOf(scenario, 2)).toEqual(['pn_ny', [2, 4, 5]]);
  expect((await scenario.recipients()).map(({ caller }) => caller)).toEqual(['pn_fl', 'pn_ny', 'pn_fl', 'pn_ny', 'pn_ny', 'pn_fl']);
  expect((await readCallerUse(scenario.store.db, await scenario.campaign())).map(({ calls }) => calls)).toEqual([3, 3, 0]);
});

test.from(beginOn, {
  rules: { pacing: { ...pacing, batchSize: 2 }, callers: { numbers: pool, choice: 'rotation' } },
  rows: 11,
})('in turn, every number calls as often as the others', async (scenario) => {
  // Numbers not yet asked about count as in.
  for (let n = 1; n <= 7; n += 1) if ((await scenario.plan(n)).kind === 'batch') await scenario.dial(n);
  const use = await readCallerUse(scenario.store.db, await scenario.campaign());
  expect(use.map(({ calls }) => calls).sort((a, b) => a - b)).toEqual([3, 4, 4]);
  expect((await scenario.recipients()).every(({ state }) => state === 'open')).toBe(true);
});

test.from(beginOn, {
  rules: { pacing, callers: { numbers: pool, choice: 'rotation' }, retry: { maxAttempts: 5 } },
  rows: rowsOf('NY'),
})('a retry comes from the number that called before, unless that is out', async (scenario) => {
  const busyFrom = async (n: number, now: number) => {
    const [attemptId = ''] = await scenario.dial(n, now);
    await scenario.settle(attemptId, 'busy', now);
    return (await batchOf(scenario, n))[0];
  };
  await look(scenario);
  expect(await busyFrom(1, noon)).toBe('pn_ny');
  expect(await busyFrom(2, noon + 10 * minuteMs)).toBe('pn_ny');
  await look(scenario, { pn_ny: 'not_verified' }, noon + 15 * minuteMs);
  expect(await busyFrom(3, noon + 20 * minuteMs)).toBe('pn_fl');
  await look(scenario, {}, noon + 25 * minuteMs);
  expect(await busyFrom(4, noon + 30 * minuteMs)).toBe('pn_fl');
  const given = await scenario.store.db.selectFrom('callers').select('given').orderBy('position').execute();
  expect(given).toEqual([{ given: 1 }, { given: 1 }, { given: 0 }]);
});

test('a planned batch of a number that is taken out is given back, and its people get another', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing, callers: { numbers: pool, choice: 'region' } }, rows: rowsOf('NY', 'NY') });
  await look(scenario);
  await scenario.plan(1);
  await look(scenario, { pn_ny: 'unknown' });
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await scenario.batch(1)).toMatchObject({
    caller: 'pn_ny',
    state: 'released',
    reason: 'caller_out',
    posts: 0,
  });
  await scenario.dial(2);
  expect(await batchOf(scenario, 2)).toEqual(['pn_fl', [1, 2]]);
  expect(await events(scenario)).toEqual([['caller.out', { phoneNumberId: 'pn_ny', reason: 'unknown', calls: 0, failed: 0 }]]);
  const posting = await readEvents(scenario.store.db, scenario.campaignId, {
    afterSeq: 0,
    limit: 1000,
    types: ['batch.posting'],
  });
  expect(posting.map(({ data }) => (data as EventData['batch.posting']).caller)).toEqual(['pn_fl']);
});

test.from(beginOn, {
  rules: { pacing, callers: { numbers: ['pn_ny', 'pn_fl'], choice: 'rotation' } },
  rows: rowsOf('NY', 'NY', 'NY', 'NY'),
})('the campaign pauses when no number is left, and says why', async (scenario) => {
  await look(scenario);
  const attemptIds = await scenario.dial(1);
  await scenario.settle(attemptIds, 'failed');
  await look(scenario, { pn_fl: 'unknown' });
  expect((await scenario.campaign()).state).toBe('running');
  await look(scenario, { pn_fl: 'unknown', pn_ny: 'not_verified' });
  expect(await scenario.campaign()).toMatchObject({
    state: 'paused',
    stateReason:
      'None of the 2 caller numbers may call (pn_ny is not verified, pn_fl is not known to the service): fix one of them with the service, then resume. ' +
      'Of the last 2 calls of pn_ny 2 failed.',
  });
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject(waits('paused', null));

  // Resumed before the service was asked again: nobody may call, and nobody does.
  await scenario.resume(noon + minuteMs);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject(waits('paused'));
  await look(scenario, { pn_fl: 'unknown' }, noon + minuteMs);
  expect(await scenario.plan(2, noon + minuteMs)).toMatchObject({ kind: 'batch', size: 2 });
  expect((await scenario.batch(2))?.caller).toBe('pn_ny');
  expect((await events(scenario)).at(-1)).toEqual(['caller.in', { phoneNumberId: 'pn_ny' }]);
});

test.from(beginOn, { rules: { pacing } })('numbers that fail end a cool-down: only a person resumes then', async (scenario) => {
  unjudged();
  const resumeAt = noon + minuteMs;
  await scenario.store.db.updateTable('campaigns').set({ state: 'paused', resume_at: resumeAt }).execute();
  await look(scenario, { pn_main: 'not_verified' }, resumeAt);
  expect(await scenario.campaign()).toMatchObject({
    state: 'paused',
    resumeAt: null,
    stateReason: 'Phone number pn_main is not verified, so its calls would fail: verify it with the service, then resume.',
  });
});

test('one worker looks at the numbers at a time, and not again before its time', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { callers: { numbers: pool, choice: 'region' } } });
  const campaign = await scenario.campaign();
  const claim = (now: number) => claimCallerCheck(scenario.store, campaign, { everyMs: 10 * minuteMs, soonestMs: minuteMs, now });
  expect((await Promise.all([claim(noon), claim(noon)])).sort()).toEqual(['due', 'not_yet']);
  expect(await claim(noon + 10 * minuteMs - 1)).toBe('not_yet');
  expect(await claim(noon + 10 * minuteMs)).toBe('due');
  await look(scenario, { pn_ny: 'unknown', pn_fl: 'unknown', pn_uk: 'unknown' }, noon + 11 * minuteMs);
  expect(await claim(noon + 11 * minuteMs)).toBe('needed');
});

async function callAll(scenario: Scenario, n: number, disposition: 'failed' | 'answered', now: number): Promise<void> {
  await scenario.settle(await scenario.dial(n, now), disposition, now);
}

const never = { ...buildRules().retry, delays: { ...buildRules().retry.delays, failed: 'never' as const } };

test('failed calls bring the next look forward, but not at once', async (dialect) => {
  const scenario = await beginOn(dialect, { rules: { pacing: { ...pacing, batchSize: 4 }, retry: never }, rows: 20 });
  await look(scenario);
  const campaign = await scenario.campaign();
  const claim = (now: number) => claimCallerCheck(scenario.store, campaign, { everyMs: 10 * minuteMs, soonestMs: minuteMs, now });
  await callAll(scenario, 1, 'answered', noon + minuteMs);
  await callAll(scenario, 2, 'failed', noon + 2 * minuteMs);
  expect(await claim(noon + 3 * minuteMs)).toBe('not_yet');
  await callAll(scenario, 3, 'failed', noon + 3 * minuteMs);
  expect(await claim(noon + 3 * minuteMs)).toBe('due');
  await callAll(scenario, 4, 'failed', noon + 3.2 * minuteMs);
  await callAll(scenario, 5, 'failed', noon + 3.4 * minuteMs);
  expect(await claim(noon + 3.9 * minuteMs)).toBe('not_yet');
  expect(await claim(noon + 4 * minuteMs)).toBe('due');
});

test('the breaker does not open for a number that is out, nor for its past when it is in again', async (dialect) => {
  const breaker = { failureShare: 0.5, windowMs: 30 * minuteMs, minCalls: 4, coolDownMs: null };
  const scenario = await beginOn(dialect, {
    rules: { pacing, retry: never, breaker, callers: { numbers: ['pn_ny', 'pn_fl'], choice: 'region' } },
    rows: rowsOf('NY', 'NY', 'NY', 'NY', 'FL', 'FL', 'FL', 'FL'),
  });
  await look(scenario);
  await callAll(scenario, 1, 'failed', noon + 1);
  await look(scenario, { pn_ny: 'not_verified' }, noon + minuteMs);
  await callAll(scenario, 2, 'answered', noon + 2 * minuteMs);
  expect(await scenario.plan(3, noon + 2 * minuteMs)).toEqual({ kind: 'done' });
  await look(scenario, {}, noon + 3 * minuteMs);
  expect(await scenario.plan(3, noon + 3 * minuteMs)).toEqual({ kind: 'done' });
  expect((await scenario.campaign()).state).toBe('running');
});
