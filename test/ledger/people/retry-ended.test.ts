import { expect } from 'vitest';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { RedialRefusedError } from '../../../src/ledger/people/resolve.ts';
import { retryEnded } from '../../../src/ledger/people/retry-ended.ts';
import { changeCampaignState, endCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRules, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { beginProven, noon, type Scenario, guests } from '../scenario.ts';
import { dialects } from '../test-stores.ts';
import { test, openLedger, beginOn, unjudged } from '../ledger-test.ts';

const retry = { ...buildRules().retry, maxAttempts: 2 };

/** Two rows: the first was reached, the second was busy twice; the round is closed. */
async function endedCampaign(dialect: (typeof dialects)[number]): Promise<Scenario> {
  const scenario = await beginOn(dialect, { rows: 2, rules: { retry } });
  await scenario.dial(1);
  await scenario.settle(['spring/1/1'], 'answered', noon + minuteMs);
  await scenario.settle(['spring/2/1'], 'busy', noon + minuteMs);
  await scenario.dial(2, noon + hourMs);
  await scenario.settle(['spring/2/2'], 'busy', noon + hourMs + minuteMs);
  expect(await scenario.close(noon + 2 * hourMs)).toBe(true);
  return scenario;
}

async function standings(scenario: Scenario) {
  return (await scenario.recipients()).map(({ state, outcome, counted, attempts }) => [state, outcome, counted, attempts]);
}

test.from(endedCampaign)('rows that were not reached get a budget anew, and their history stays', async (scenario) => {
  const { store } = scenario;
  const later = noon + 3 * hourMs;
  expect(await scenario.retry(['exhausted'], later)).toBe(1);
  expect(await standings(scenario)).toEqual([
    ['done', 'completed', 1, 1],
    ['waiting', null, 0, 2],
  ]);
  expect(await openRound(store, 'spring', later)).toMatchObject({ round: 2 });
  expect(await scenario.campaign()).toMatchObject({ state: 'running', round: 2 });

  scenario.round = 2;
  expect(await scenario.dial(1, later)).toEqual(['spring/2/3']);
  await scenario.settle(['spring/2/3'], 'busy', later + minuteMs);
  expect((await standings(scenario))[1]).toEqual(['waiting', null, 1, 3]);
  // What is learnt late of an earlier budget does not touch this one.
  await scenario.settle(['spring/2/2'], 'busy', later + 2 * minuteMs);
  expect((await standings(scenario))[1]).toEqual(['waiting', null, 1, 3]);
  expect(await scenario.dial(2, later + hourMs)).toEqual(['spring/2/4']);
  await scenario.settle(['spring/2/4'], 'busy', later + hourMs + minuteMs);
  expect((await standings(scenario))[1]).toEqual(['done', 'exhausted', 2, 4]);
  expect(await scenario.close(later + 2 * hourMs)).toBe(true);
});

test('a row that is retried still waits for its own time', async (dialect) => {
  const rows = guests(2);
  for (const row of rows) row.notBefore = noon + 5 * hourMs;
  const scenario = await beginOn(dialect, { rows });
  const { store } = scenario;
  expect(await scenario.end('cancelled')).toBe(true);
  await scenario.plan(1);
  expect(await scenario.close()).toBe(true);
  const later = noon + hourMs;
  expect(await scenario.retry(['cancelled'], later)).toBe(2);
  await openRound(store, 'spring', later);
  scenario.round = 2;
  expect(await scenario.plan(1, later)).toMatchObject({ reason: 'due', until: noon + 5 * hourMs });
  expect(await scenario.dial(1, noon + 5 * hourMs)).toEqual(['spring/1/1', 'spring/2/1']);
});

test.from(endedCampaign)('who was called before keeps the turn of a retry when a call is given back unsent', async (scenario) => {
  const { store } = scenario;
  const at = { campaignId: 'spring', now: noon + 3 * hourMs };
  await retryEnded(store, at, ['exhausted']);
  await openRound(store, 'spring', at.now);
  scenario.round = 2;
  await scenario.plan(1, at.now);
  await store.transaction((tx) => changeCampaignState(tx, at, { to: 'paused', reason: null }));
  expect(await scenario.post(1, at.now)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await scenario.row(2)).toMatchObject({ state: 'waiting', counted: 0, called: 1, rank: 0 });
});

test.from(endedCampaign)('a late word that somebody was reached outranks the retry', async (scenario) => {
  const later = noon + 3 * hourMs;
  await scenario.retry(['exhausted'], later);
  await scenario.settle(['spring/2/1'], 'answered', later);
  expect((await standings(scenario))[1]?.slice(0, 2)).toEqual(['done', 'completed']);
});

test.from(endedCampaign)('a campaign that runs, or has ended for good, is not retried', async (scenario) => {
  unjudged();
  const { store } = scenario;
  expect(await scenario.retry(['cancelled'], noon + 3 * hourMs)).toBe(0);
  const rules = { ...(await scenario.campaign()).rules, endsAt: noon + 3 * hourMs };
  await store.db
    .updateTable('campaigns')
    .set({ rules: JSON.stringify(rules) })
    .execute();
  await expect(scenario.retry(['exhausted'], noon + 3 * hourMs)).rejects.toThrow(/ended for good at 2030-01-15T15:00/);
  await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to: 'running', reason: null }));
  await expect(scenario.retry(['exhausted'], noon)).rejects.toThrow(/is running; retry it when it has ended/);
  expect(await scenario.resume()).toBe(true);
  expect((await standings(scenario))[1]?.slice(0, 2)).toEqual(['done', 'exhausted']);
});

const endsAt = noon + 12 * hourMs;

/** One batch was lost without a trace, so a person has to decide. */
async function heldBatch(dialect: (typeof dialects)[number], rules: RulesChanges = {}): Promise<Scenario> {
  const store = await openLedger(dialect);
  const rows = guests(2);
  const scenario = await beginProven(store, { rows, rules });
  await scenario.lose(1);
  await scenario.sweep(noon + hourMs);
  expect(await scenario.batch(1)).toMatchObject({ state: 'held' });
  return scenario;
}

async function expectUntouched(scenario: Scenario): Promise<void> {
  expect(await scenario.batch(1)).toMatchObject({ state: 'held' });
  for (const row of await scenario.recipients()) expect(row).toMatchObject({ state: 'done', outcome: 'unresolved', counted: 1 });
}

test.from(heldBatch, { endsAt })('after ends_at nobody is redialled, and the rows stay unresolved', async (scenario) => {
  const refused = await scenario.resolve('redial', endsAt).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RedialRefusedError);
  expect(refused).toMatchObject({
    isBadInput: true,
    remedy: { kind: 'leave_unresolved', campaignId: 'spring' },
    message: expect.stringMatching(
      /^Campaign spring ended for good at 2030-01-16T00:00:00\.000Z \(ends_at\): .* stay unresolved\. Start a new campaign/,
    ),
  });
  await expectUntouched(scenario);
  expect(await scenario.resolve('give_up', endsAt)).toMatchObject({
    recipients: 2,
  });
});

test.from(heldBatch, { endsAt })('just before ends_at they are', async (scenario) => {
  expect(await scenario.resolve('redial', endsAt - 1)).toMatchObject({
    recipients: 2,
  });
});

test('while a campaign drains nobody is redialled', async (dialect) => {
  for (const why of ['cancelled', 'drained'] as const) {
    const scenario = await heldBatch(dialect);
    const { store } = scenario;
    const now = noon + hourMs + minuteMs;
    await endCampaign(store, { campaignId: 'spring', now }, { why });
    const refused = await scenario.resolve('redial', now).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RedialRefusedError);
    expect(refused).toMatchObject({
      isBadInput: true,
      remedy: { kind: 'await_end', campaignId: 'spring' },
      message: expect.stringMatching(/^Campaign spring is draining: .* stay unresolved\. Repeat this when it has ended/),
    });
    await expectUntouched(scenario);
    expect(await scenario.resolve('give_up', now)).toMatchObject({ recipients: 2 });
  }
});
