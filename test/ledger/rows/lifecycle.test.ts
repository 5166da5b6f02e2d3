import { expect, test } from 'vitest';
import {
  changeCampaignState,
  endCampaign,
  failCampaign,
  pauseCampaign,
  resumeCampaign,
  reviveCampaign,
} from '../../../src/ledger/rows/campaigns.ts';
import { campaignStates, campaignTransitions, type CampaignState } from '../../../src/rules/lifecycle.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

const one = { maxConcurrentCalls: 1, batchSize: 1, refillThreshold: 1 };
const busy = { disposition: 'busy', detail: null, counted: true } as const;

async function settle(scenario: Scenario, attemptId: string, now = noon): Promise<void> {
  await scenario.store.transaction((tx) =>
    settleAttempts(tx, { campaignId: scenario.campaignId, now }, [{ attemptId, result: { ...busy, disposition: 'answered' } }]),
  );
}

async function standing(scenario: Scenario): Promise<[string, string | null]> {
  const { state, stateReason } = await scenario.campaign();
  return [state, stateReason];
}

async function outcomes(scenario: Scenario): Promise<(string | null)[][]> {
  return (await scenario.recipients()).map(({ outcome, reason }) => [outcome, reason]);
}

test.for(dialects)('a campaign changes only as the table says, also when it is asked to: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect));
  const { store } = scenario;
  for (const from of campaignStates) {
    for (const to of campaignStates) {
      await store.db.updateTable('campaigns').set({ state: from }).execute();
      const allowed: readonly CampaignState[] = campaignTransitions[from];
      const changed = await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to, reason: null }));
      expect([from, to, changed]).toEqual([from, to, from === to || allowed.includes(to)]);
      const row = await store.db.selectFrom('campaigns').select('state').executeTakeFirstOrThrow();
      expect([from, to, row.state]).toEqual([from, to, changed ? to : from]);
    }
  }
});

test.for(dialects)('nothing is dialled before the start time: %s', async (dialect) => {
  const startsAt = noon + hourMs;
  const scenario = await beginProven(await openCleanStore(dialect), { rules: { startsAt } });
  expect(await standing(scenario)).toEqual(['scheduled', null]);
  expect(await scenario.plan(1)).toMatchObject({ kind: 'wait', reason: 'scheduled', until: startsAt });
  expect(await pauseCampaign(scenario.store, { campaignId: 'spring', now: noon }, { reason: 'wrong list' })).toBe(true);
  expect(await scenario.plan(1)).toMatchObject({ kind: 'wait', reason: 'paused', until: null });
  expect(await resumeCampaign(scenario.store, { campaignId: 'spring', now: noon })).toBe(true);
  expect(await standing(scenario)).toEqual(['scheduled', null]);
  expect(await scenario.plan(1, startsAt - 1)).toMatchObject({ kind: 'wait', reason: 'scheduled' });
  expect(await scenario.plan(1, startsAt)).toMatchObject({ kind: 'batch' });
  expect(await standing(scenario)).toEqual(['running', null]);
});

test.for(dialects)('a campaign that drains completes with what it has: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), {
    rows: buildRows(numbers(2), (index) => `Guest ${index}`),
    rules: { pacing: one },
  });
  const [open = ''] = await scenario.dial(1);
  expect(await endCampaign(scenario.store, { campaignId: 'spring', now: noon }, { why: 'drained' })).toBe(true);
  expect(await standing(scenario)).toEqual(['draining', 'drained by a person']);
  expect(await pauseCampaign(scenario.store, { campaignId: 'spring', now: noon }, { reason: 'too late' })).toBe(false);
  expect(await resumeCampaign(scenario.store, { campaignId: 'spring', now: noon })).toBe(false);
  expect(await scenario.plan(2)).toMatchObject({ kind: 'wait', reason: 'collecting' });
  await settle(scenario, open);
  expect(await scenario.plan(2)).toEqual({ kind: 'done' });
  expect(await closeRound(scenario.store, { campaignId: 'spring', now: noon }, 1)).toBe(true);
  expect(await standing(scenario)).toEqual(['completed', null]);
  expect(await outcomes(scenario)).toEqual([
    ['completed', 'answered'],
    ['cancelled', 'drained'],
  ]);
});

test.for(dialects)('one that drains can still be cancelled, and then ends so: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect));
  expect(await endCampaign(scenario.store, { campaignId: 'spring', now: noon }, { why: 'drained' })).toBe(true);
  expect(await endCampaign(scenario.store, { campaignId: 'spring', now: noon }, { why: 'cancelled' })).toBe(true);
  expect(await endCampaign(scenario.store, { campaignId: 'spring', now: noon }, { why: 'drained' })).toBe(true);
  expect(await scenario.plan(1)).toEqual({ kind: 'done' });
  expect(await closeRound(scenario.store, { campaignId: 'spring', now: noon }, 1)).toBe(true);
  expect(await standing(scenario)).toEqual(['cancelled', null]);
});

test.for(dialects)('a paused campaign ends at its end, and goes on by itself after a cool-down: %s', async (dialect) => {
  const endsAt = noon + 2 * hourMs;
  const scenario = await beginProven(await openCleanStore(dialect), { rules: { endsAt } });
  await pauseCampaign(scenario.store, { campaignId: 'spring', now: noon }, { reason: 'too many failed' });
  expect(await scenario.plan(1)).toMatchObject({ reason: 'paused', until: endsAt });
  const resumeAt = noon + 30 * minuteMs;
  await scenario.store.db.updateTable('campaigns').set({ resume_at: resumeAt }).execute();
  expect(await scenario.plan(1, resumeAt - 1)).toMatchObject({ reason: 'paused', until: resumeAt });
  expect(await scenario.plan(1, resumeAt)).toMatchObject({ kind: 'batch' });
  expect(await standing(scenario)).toEqual(['running', 'its cool-down is over']);
  expect((await scenario.campaign()).resumeAt).toBeNull();

  await pauseCampaign(scenario.store, { campaignId: 'spring', now: resumeAt }, { reason: 'again' });
  expect(await scenario.post(1, resumeAt)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await scenario.plan(2, endsAt)).toEqual({ kind: 'done' });
  expect(await standing(scenario)).toEqual(['draining', 'its end (ends_at) has come']);
  expect(new Set((await outcomes(scenario)).map(String))).toEqual(new Set(['expired,campaign_end']));
  expect(await closeRound(scenario.store, { campaignId: 'spring', now: endsAt }, 1)).toBe(true);
  expect(await standing(scenario)).toEqual(['completed', null]);
});

test.for(dialects)('a campaign that failed dials nobody until it is started again: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect));
  await scenario.plan(1);
  await failCampaign(scenario.store, { campaignId: 'spring', now: noon }, 'the ledger is older');
  expect(await standing(scenario)).toEqual(['failed', 'the ledger is older']);
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await resumeCampaign(scenario.store, { campaignId: 'spring', now: noon })).toBe(false);
  await reviveCampaign(scenario.store, { campaignId: 'spring', now: noon });
  await reviveCampaign(scenario.store, { campaignId: 'spring', now: noon });
  expect(await standing(scenario)).toEqual(['running', null]);
  expect(await scenario.plan(2)).toMatchObject({ kind: 'batch', size: 6 });
});

test.for(dialects)('a row is dialled neither before nor after its own time: %s', async (dialect) => {
  const rows = buildRows(numbers(3), (index) => `Guest ${index}`);
  const [early, late, over] = rows;
  if (early === undefined || late === undefined || over === undefined) throw new Error('three rows');
  early.notBefore = noon + hourMs;
  late.expiresAt = noon + 25 * minuteMs;
  over.expiresAt = noon + 10 * minuteMs;
  const scenario = await beginProven(await openCleanStore(dialect), {
    rows,
    rules: { pacing: { refillThreshold: 1 } },
  });
  const [attemptId = ''] = await scenario.dial(1);
  expect(await outcomes(scenario)).toEqual([
    [null, null],
    [null, null],
    ['expired', 'row_expired'],
  ]);
  expect((await scenario.recipients()).map(({ state }) => state)).toEqual(['waiting', 'open', 'done']);
  // Its retry would come in time, but not with the margin that the service may take to dial.
  await scenario.store.transaction((tx) =>
    settleAttempts(tx, { campaignId: 'spring', now: noon + 12 * minuteMs }, [{ attemptId, result: busy }]),
  );
  expect((await outcomes(scenario))[1]).toEqual(['expired', 'row_expired']);
  expect(await scenario.plan(2, noon + 30 * minuteMs)).toMatchObject({ reason: 'due', until: noon + hourMs });
  expect(await scenario.plan(2, noon + hourMs)).toMatchObject({ kind: 'batch', size: 1 });
});
