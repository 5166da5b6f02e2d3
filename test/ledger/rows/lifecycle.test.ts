import { expect } from 'vitest';
import { changeCampaignState, failCampaign, reviveCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { campaignStates, campaignTransitions, type CampaignState } from '../../../src/rules/lifecycle.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginOn, test, unjudged } from '../ledger-test.ts';
import { guests, noon, type Scenario, waits } from '../scenario.ts';

async function standing(scenario: Scenario): Promise<[string, string | null]> {
  const { state, stateReason } = await scenario.campaign();
  return [state, stateReason];
}

test.from(beginOn)('a campaign changes only as the table says, also when it is asked to', async (scenario) => {
  unjudged();
  const { store } = scenario;
  for (const from of campaignStates) {
    for (const to of campaignStates) {
      await store.db.updateTable('campaigns').set({ state: from }).execute();
      const allowed: readonly CampaignState[] = campaignTransitions[from];
      const changed = await store.transaction((tx) => changeCampaignState(tx, scenario.at(), { to, reason: null }));
      expect([from, to, changed]).toEqual([from, to, from === to || allowed.includes(to)]);
      const row = await store.db.selectFrom('campaigns').select('state').executeTakeFirstOrThrow();
      expect([from, to, row.state]).toEqual([from, to, changed ? to : from]);
    }
  }
});

test('nothing is dialled before the start time', async (dialect) => {
  const startsAt = noon + hourMs;
  const scenario = await beginOn(dialect, { rules: { startsAt } });
  expect(await standing(scenario)).toEqual(['scheduled', null]);
  expect(await scenario.plan(1)).toMatchObject(waits('scheduled', startsAt));
  expect(await scenario.pause(noon, 'wrong list')).toBe(true);
  expect(await scenario.plan(1)).toMatchObject(waits('paused', null));
  expect(await scenario.resume()).toBe(true);
  expect(await standing(scenario)).toEqual(['scheduled', null]);
  expect(await scenario.plan(1, startsAt - 1)).toMatchObject(waits('scheduled'));
  expect(await scenario.plan(1, startsAt)).toMatchObject({ kind: 'batch' });
  expect(await standing(scenario)).toEqual(['running', null]);
});

test('a campaign that drains completes with what it has', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 2, rules: { pacing: { maxConcurrentCalls: 1, batchSize: 1, refillThreshold: 1 } } });
  const open = await scenario.dial(1);
  expect(await scenario.end('drained')).toBe(true);
  expect(await standing(scenario)).toEqual(['draining', 'drained by a person']);
  expect([await scenario.pause(), await scenario.resume()]).toEqual([false, false]);
  expect(await scenario.plan(2)).toMatchObject(waits('collecting'));
  await scenario.settle(open, 'answered');
  expect(await scenario.plan(2)).toEqual({ kind: 'done' });
  expect(await scenario.close()).toBe(true);
  expect(await standing(scenario)).toEqual(['completed', null]);
  expect(await scenario.standings()).toEqual([
    ['done', 'completed', 'answered'],
    ['done', 'cancelled', 'drained'],
  ]);
});

test.from(beginOn)('one that drains can still be cancelled, and then ends so', async (scenario) => {
  for (const why of ['drained', 'cancelled', 'drained'] as const) expect(await scenario.end(why)).toBe(true);
  expect(await scenario.plan(1)).toEqual({ kind: 'done' });
  expect(await scenario.close()).toBe(true);
  expect(await standing(scenario)).toEqual(['cancelled', null]);
});

test('a paused campaign ends at its end, and goes on by itself after a cool-down', async (dialect) => {
  const endsAt = noon + 2 * hourMs;
  const scenario = await beginOn(dialect, { rules: { endsAt } });
  await scenario.pause(noon, 'too many failed');
  expect(await scenario.plan(1)).toMatchObject({ reason: 'paused', until: endsAt });
  const resumeAt = noon + 30 * minuteMs;
  await scenario.store.db.updateTable('campaigns').set({ resume_at: resumeAt }).execute();
  expect(await scenario.plan(1, resumeAt - 1)).toMatchObject({ reason: 'paused', until: resumeAt });
  expect(await scenario.plan(1, resumeAt)).toMatchObject({ kind: 'batch' });
  expect(await standing(scenario)).toEqual(['running', 'its cool-down is over']);
  expect((await scenario.campaign()).resumeAt).toBeNull();

  await scenario.pause(resumeAt, 'again');
  expect(await scenario.post(1, resumeAt)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await scenario.plan(2, endsAt)).toEqual({ kind: 'done' });
  expect(await standing(scenario)).toEqual(['draining', 'its end (ends_at) has come']);
  expect(new Set((await scenario.standings()).map(String))).toEqual(new Set(['done,expired,campaign_end']));
  expect(await scenario.close(endsAt)).toBe(true);
  expect(await standing(scenario)).toEqual(['completed', null]);
});

test.from(beginOn)('a person who pauses it ends the cool-down: only a person resumes', async (scenario) => {
  await scenario.pause(noon, 'too many failed');
  await scenario.store.db
    .updateTable('campaigns')
    .set({ resume_at: noon + hourMs })
    .execute();
  expect(await scenario.pause(noon + minuteMs, 'paused by a person')).toBe(true);
  expect(await scenario.campaign()).toMatchObject({ stateReason: 'paused by a person', resumeAt: null });
  expect(await scenario.plan(1, noon + hourMs)).toMatchObject({ reason: 'paused', until: null });
  // Repeating a pause without a cool-down keeps its reason.
  expect(await scenario.pause(noon + minuteMs, 'once more')).toBe(true);
  expect((await scenario.campaign()).stateReason).toBe('paused by a person');
  expect(await scenario.resume(noon + hourMs)).toBe(true);
  expect(await scenario.plan(1, noon + hourMs)).toMatchObject({ kind: 'batch', size: 6 });
});

test.from(beginOn)('a campaign that failed dials nobody until it is started again', async (scenario) => {
  await scenario.plan(1);
  await failCampaign(scenario.store, scenario.at(), 'the ledger is older');
  expect(await standing(scenario)).toEqual(['failed', 'the ledger is older']);
  expect(await scenario.post(1)).toEqual({ kind: 'verdict', state: 'released' });
  expect(await scenario.resume()).toBe(false);
  for (const _ of [1, 2]) await reviveCampaign(scenario.store, scenario.at());
  expect(await standing(scenario)).toEqual(['running', null]);
  expect(await scenario.plan(2)).toMatchObject({ kind: 'batch', size: 6 });
});

test('a row is dialled neither before nor after its own time', async (dialect) => {
  const times = [{ notBefore: noon + hourMs }, { expiresAt: noon + 25 * minuteMs }, { expiresAt: noon + 10 * minuteMs }];
  const rows = guests(3).map((row, index) => ({ ...row, ...times[index] }));
  const scenario = await beginOn(dialect, { rows, rules: { pacing: { refillThreshold: 1 } } });
  const called = await scenario.dial(1);
  const expired = ['done', 'expired', 'row_expired'];
  expect(await scenario.standings()).toEqual([['waiting', hourMs], ['open', null, null], expired]);
  // Its retry would come in time, but not with the service's dial margin.
  await scenario.settle(called, 'busy', noon + 12 * minuteMs);
  expect((await scenario.standings())[1]).toEqual(expired);
  expect(await scenario.plan(2, noon + 30 * minuteMs)).toMatchObject({ reason: 'due', until: noon + hourMs });
  expect(await scenario.plan(2, noon + hourMs)).toMatchObject({ kind: 'batch', size: 1 });
});
