import { expect } from 'vitest';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { idRules, listRows, numberOf, told, upload, uploadRow } from '../edit-world.ts';
import { beginProven, numbers, type Scenario, noon } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { finishRecipients } from '../../../src/ledger/rows/recipients.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';

const people = 8;

/** The same people in each campaign, under numbers that no other one has; in the second the other way round. */
function rowsOf(campaign: number) {
  const rows = buildRows(numbers(people, campaign * people), (index) => `Guest ${campaign}-${index}`);
  const named = rows.map((row, index) => ({ ...row, externalId: `person${index}` }));
  return (campaign === 1 ? named.toReversed() : named).map((row, index) => ({ ...row, row: index + 1 }));
}

test.both.from(openLedger)('campaigns that dial the same people at the same moment keep a cap by person together', async (store) => {
  const rules = { caps: [{ by: 'person' as const, calls: 1, withinMs: 24 * hourMs }] };
  const scenarios: Scenario[] = [];
  for (const [index, campaignId] of ['autumn', 'spring', 'summer'].entries())
    scenarios.push(await beginProven(store, { campaignId, rules, rows: rowsOf(index) }));
  for (const scenario of scenarios) expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: people });
  // Each has a connection of its own, or they would take turns to get one.
  await Promise.all(scenarios.map((scenario) => store.transaction((tx) => findCampaign(tx, scenario.campaignId))));
  await Promise.all(scenarios.map((scenario) => scenario.post(1)));
  const attempts = await store.db.selectFrom('attempts').select('state').where('state', '=', 'posting').execute();
  expect(attempts).toHaveLength(people);
});

/** After a call without an answer. */
const retryAfterMs = 10 * minuteMs;

async function dialOnce(dialect: TestDialect, maxAttempts: number): Promise<Scenario> {
  const rules = { ...idRules, retry: { maxAttempts } };
  const scenario = await beginOn(dialect, { rows: listRows(1), rules });
  await scenario.dial(1);
  return scenario;
}

/** Somebody called once without an answer, of whom it then turns out that they cannot be called. */
async function begin(dialect: TestDialect): Promise<Scenario> {
  const scenario = await dialOnce(dialect, 2);
  await scenario.settle('spring/1/1', 'no_answer', noon + minuteMs);
  const finish = { recipientId: 'spring/1', outcome: 'undialable' as const, reason: 'pre_dial:no_consent' };
  await scenario.store.transaction((tx) => finishRecipients(tx, scenario.at(noon + minuteMs), [finish]));
  return scenario;
}

test.from(begin)('a corrected row with the number it had keeps its used attempts and its turn', async (scenario) => {
  const now = noon + 2 * minuteMs;
  expect(told(await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Ana')], {}, now))).toEqual(['corrected']);
  const dueAt = noon + minuteMs + retryAfterMs;
  expect(await scenario.recipients()).toMatchObject([{ state: 'waiting', called: 1, rank: 0, counted: 1, due_at: dueAt }]);
  expect(await scenario.plan(2, now)).toMatchObject({ kind: 'wait', until: dueAt });
  expect(await scenario.dial(2, noon + hourMs)).toEqual(['spring/1/2']);
  await scenario.settle('spring/1/2', 'no_answer', noon + hourMs + minuteMs);
  expect(await scenario.recipients()).toMatchObject([{ outcome: 'exhausted', counted: 2 }]);
});

test.from(begin)('nobody is called beyond the budget for a new name in the list', async (scenario) => {
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Ana')], {}, noon + 2 * minuteMs);
  await scenario.dial(2, noon + hourMs);
  await scenario.settle('spring/1/2', 'invalid_number', noon + hourMs + minuteMs);
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Anna')], {}, noon + 2 * hourMs);
  expect(await scenario.plan(3, noon + 3 * hourMs)).toEqual({ kind: 'done' });
  expect(await scenario.recipients()).toMatchObject([{ outcome: 'exhausted', reason: 'attempts_used_up' }]);
});

test.from(dialOnce, 1)('another number is called with a budget of its own, and at once', async (scenario) => {
  await scenario.settle('spring/1/1', 'invalid_number', noon + minuteMs);
  const now = noon + 2 * minuteMs;
  expect(told(await upload(scenario.store, [uploadRow(1, 'id0', numberOf(5))], {}, now))).toEqual(['corrected']);
  expect(await scenario.recipients()).toMatchObject([{ state: 'waiting', called: 0, rank: 50, counted: 0, due_at: 0 }]);
  expect(await scenario.dial(2, now)).toEqual(['spring/1/2']);
});
