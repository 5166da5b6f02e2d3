import { expect } from 'vitest';
import { pausedByOperator, type CampaignState } from '../../../src/rules/lifecycle.ts';
import { breakerOpens } from '../../../src/rules/pacing/breaker.ts';
import { listWatched, readFigures } from '../../../src/ledger/read/figures.ts';
import { pauseCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { updateCampaign } from '../../../src/ledger/updates.ts';
import { storeAccountRules } from '../../../src/ledger/limits/house.ts';
import { minuteMs, talkResults } from '../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers, type Scenario, guests } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, openLedger, beginOn, unjudged } from '../ledger-test.ts';

async function begin(dialect: TestDialect): Promise<Scenario> {
  const rows = guests(6);
  return beginOn(dialect, { rows, rules: { pacing: { batchSize: 2 } } });
}

const setState = (spring: Scenario, state: CampaignState) => spring.store.transaction((tx) => updateCampaign(tx, 'spring', { state }));

const at = async (spring: Scenario, now: number) => readFigures(spring.store.db, await spring.campaign(), now);

test.both.from(begin)('figures follow a campaign from its first batch to its last', async (spring) => {
  unjudged();
  expect(await at(spring, noon)).toMatchObject({
    campaignId: 'spring',
    state: 'running',
    reason: 'ready',
    waiting: 6,
    open: 0,
    allowed: 50,
    oldestUnknownMs: 0,
    sweepLagMs: 0,
    sinceAcceptedMs: 0,
  });
  await spring.dial(1, noon + minuteMs);
  expect(await at(spring, noon + 3 * minuteMs)).toMatchObject({
    waiting: 4,
    open: 2,
    batches: { confirmed: 1 },
    sweepLagMs: 2 * minuteMs,
    sinceAcceptedMs: 2 * minuteMs,
    oldestUnknownMs: 0,
  });
  await spring.submit(2, noon + 3 * minuteMs);
  // Who was to tell may have died.
  expect(await at(spring, noon + 4 * minuteMs)).toMatchObject({ batches: { posting: 1 }, oldestUnknownMs: minuteMs });
  await spring.verdict(2, 'unknown', { now: noon + 4 * minuteMs });
  expect(await at(spring, noon + 6 * minuteMs)).toMatchObject({
    batches: { confirmed: 1, unknown: 1 },
    oldestUnknownMs: 2 * minuteMs,
    reason: 'unknown',
  });
  const [first = ''] = numbers(1);
  const [stranger = ''] = numbers(1, 40);
  await spring.sweep(noon + 5 * minuteMs, [
    answered('conv_1', first, noon + minuteMs),
    answered('conv_of_nobody', stranger, noon + minuteMs),
    // It may still turn out to be a call of ours.
    { ...answered('conv_unread', numbers(1, 41)[0] ?? '', noon + minuteMs), status: 'processing' },
  ]);
  expect(await at(spring, noon + 6 * minuteMs)).toMatchObject({
    calls: { answered: 1 },
    outcomes: { completed: 1 },
    unownedRecords: 1,
    sweepLagMs: minuteMs,
  });
  await setState(spring, 'completed');
  expect(await at(spring, noon + 60 * minuteMs)).toMatchObject({
    reason: null,
    allowed: 0,
    batches: { confirmed: 1, unknown: 1 },
    oldestUnknownMs: 0,
    sweepLagMs: 0,
    unownedRecords: 0,
    sinceAcceptedMs: 0,
    calls: { answered: 1 },
  });
});

test.from(openLedger)('figures tell results and goal, the pilot, the room of each number and the house rules', async (store) => {
  const rules = {
    results: talkResults,
    stopAt: { goal: 2, overshoot: 'allowed' as const },
    pilot: { rows: 2, pick: 'first' as const, next: 'ask' as const },
    callers: { numbers: ['pn_main'], choice: 'region' as const, limits: { perHour: 5, perDay: null } },
  };
  const spring = await beginProven(store, { rows: 6, rules });
  expect(await at(spring, noon)).toMatchObject({
    results: {},
    goals: 0,
    goalsWanted: 2,
    pilot: { calling: 1 },
    callerRooms: { pn_main: 5 },
    houseVersion: 0,
  });
  const [attempt = ''] = await spring.dial(1);
  const { e164 } = await store.db.selectFrom('attempts').select('e164').where('attempt_id', '=', attempt).executeTakeFirstOrThrow();
  await spring.sweep(noon + 5 * minuteMs, [{ ...answered('conv_1', e164, noon + minuteMs), collected: { appointment: 'confirmed' } }]);
  const calendar = { hours: null, closedOn: ['2030-12-24'] };
  const house = { calendar, caps: [], callerLimits: { perHour: 4, perDay: null }, requires: { consent: false, optOut: false } };
  await storeAccountRules(store, { text: '', rules: house, now: noon });
  expect(await at(spring, noon + 6 * minuteMs)).toMatchObject({
    results: { confirmed: 1 },
    goals: 1,
    callerRooms: { pn_main: 2 },
    houseVersion: 1,
  });
});

test.from(begin)('a pause tells who made it', async (spring) => {
  unjudged();
  const pausedFor = async (reason: string) => {
    await setState(spring, 'running');
    await pauseCampaign(spring.store, spring.at(), { reason });
    return at(spring, noon);
  };
  const broken = breakerOpens(
    { windowMs: minuteMs, minCalls: 2, failureShare: 0.5, coolDownMs: null },
    { ended: 2, failed: { failed: 2 }, lost: { batches: 0, calls: 0 } },
  );
  expect(broken).not.toBeNull();
  expect(await pausedFor(`${broken}. Find the cause, then resume.`)).toMatchObject({
    reason: 'paused',
    pausedByItself: true,
    breakerOpen: true,
  });
  expect(await pausedFor('The key is refused.')).toMatchObject({ pausedByItself: true, breakerOpen: false });
  expect(await pausedFor(pausedByOperator)).toMatchObject({ pausedByItself: false, breakerOpen: false });
});

test.from(begin)('campaigns are watched while somebody works for them, or should', async (spring) => {
  unjudged();
  const watchedIn = async (state: CampaignState) => {
    await setState(spring, state);
    return listWatched(spring.store.db, noon);
  };
  expect([await watchedIn('running'), await watchedIn('paused'), await watchedIn('failed')]).toEqual([['spring'], ['spring'], ['spring']]);
  expect([await watchedIn('draft'), await watchedIn('completed')]).toEqual([[], []]);
  await spring.store.db.updateTable('rounds').set({ ended_at: noon }).execute();
  expect(await listWatched(spring.store.db, noon - 1)).toEqual(['spring']);
  expect(await listWatched(spring.store.db, noon)).toEqual([]);
});
