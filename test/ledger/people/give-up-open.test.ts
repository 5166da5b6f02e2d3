import { expect, test } from 'vitest';
import { giveUpOpen } from '../../../src/ledger/people/give-up-open.ts';
import { resolveUnresolved } from '../../../src/ledger/people/resolve.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { buildRows, buildRules, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { agentId, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

const { retry } = buildRules();
/** What a file with `on_unknown: redial` comes to. */
const redialling = { ...retry, delays: { ...retry.delays, unknown: [30 * minuteMs] } };

async function openCalls(dialect: (typeof dialects)[number], rules: RulesChanges = {}): Promise<Scenario> {
  const store = await openCleanStore(dialect);
  const rows = buildRows(numbers(2), (index) => `Guest ${index}`);
  const scenario = await beginProven(store, { rows, rules });
  await scenario.dial(1);
  return scenario;
}

async function outcomes(scenario: Scenario): Promise<(string | null)[][]> {
  return (await scenario.recipients()).map(({ state, outcome, reason }) => [state, outcome, reason]);
}

const givenUpTwice = [
  ['done', 'unresolved', 'given_up'],
  ['done', 'unresolved', 'given_up'],
];

test.for(dialects)('open calls are given up only after an hour without a word of the service: %s', async (dialect) => {
  const scenario = await openCalls(dialect);
  const { store } = scenario;
  const since = noon + minuteMs;
  await scenario.sweep(since, [], false);
  expect(await giveUpOpen(store, { campaignId: 'spring', now: since + hourMs - 1 }, agentId)).toEqual({
    kind: 'still_read',
    since,
  });
  expect(await giveUpOpen(store, { campaignId: 'spring', now: since + hourMs }, agentId)).toEqual({
    kind: 'given_up',
    calls: 2,
  });
  expect(await giveUpOpen(store, { campaignId: 'spring', now: since + hourMs }, agentId)).toEqual({
    kind: 'given_up',
    calls: 0,
  });
  expect(await outcomes(scenario)).toEqual(givenUpTwice);
  expect(await scenario.plan(2, since + hourMs)).toEqual({ kind: 'done' });
});

test.for(dialects)('what is given up is dialled by nobody, also where unknown calls are redialled: %s', async (dialect) => {
  const scenario = await openCalls(dialect, { retry: redialling });
  const { store } = scenario;
  const now = noon + 2 * hourMs;
  expect(await giveUpOpen(store, { campaignId: 'spring', now }, agentId)).toEqual({ kind: 'given_up', calls: 2 });
  expect(await outcomes(scenario)).toEqual(givenUpTwice);
  expect(await scenario.plan(2, now + 24 * hourMs)).toEqual({ kind: 'done' });
  expect(await resolveUnresolved(store, { campaignId: 'spring', now }, 'redial')).toMatchObject({ recipients: 0 });
  expect(await closeRound(store, { campaignId: 'spring', now }, 1)).toBe(true);
  expect(await verifyLog(store.db, null)).toMatchObject({ ok: true });
});

test.for(dialects)('calls of a lost batch that nobody decided about are given up with it: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const rows = buildRows(numbers(2), (index) => `Guest ${index}`);
  const scenario = await beginProven(store, { rows, rules: { retry: redialling } });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'unknown');
  const now = noon + 2 * hourMs;
  expect(await giveUpOpen(store, { campaignId: 'spring', now }, agentId)).toEqual({ kind: 'given_up', calls: 2 });
  await resolveUnresolved(store, { campaignId: 'spring', now }, 'give_up');
  expect(await scenario.batch(1)).toMatchObject({ state: 'given_up' });
  expect(await outcomes(scenario)).toEqual(givenUpTwice);
  expect(await scenario.plan(2, now + 24 * hourMs)).toEqual({ kind: 'done' });
});
