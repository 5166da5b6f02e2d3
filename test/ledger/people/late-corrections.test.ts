import { expect } from 'vitest';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { changeCampaignState } from '../../../src/ledger/rows/campaigns.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { withdrawRecipients } from '../../../src/ledger/people/withdraw-recipients.ts';
import { buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { idRules, listRows, numberOf, upload, uploadRow } from '../edit-world.ts';
import { noon, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';
import { test, beginOn, unjudged } from '../ledger-test.ts';

async function begin(dialect: (typeof dialects)[number], delays = {}): Promise<Scenario> {
  const scenario = await beginOn(dialect, { rows: 1, rules: { retry: { delays: { ...buildRules().retry.delays, ...delays } } } });
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'unreached', noon + minuteMs);
  return scenario;
}

async function standing(scenario: Scenario) {
  const [row] = await scenario.recipients();
  const counts = await readAggregates(scenario.store.db, 'spring', ['outcome']);
  return [row?.state, row?.outcome, row?.reason, counts.filter(({ count }) => count > 0).map(({ value }) => value)];
}

test.from(begin)('a late record does not put back in line whom a person withdrew', async (scenario) => {
  const withdrawn = { campaignId: 'spring', note: null, dryRun: false };
  await withdrawRecipients(scenario.store, { ...withdrawn, now: noon + 2 * minuteMs }, { rows: [1] });
  await scenario.settle('spring/1/1', 'busy', noon + 3 * minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'cancelled', 'withdrawn', ['cancelled']]);
  expect(await scenario.plan(2, noon + hourMs)).toEqual({ kind: 'done' });
  // Nor does it turn into an outcome that could be retried.
  await scenario.settle('spring/1/1', 'voicemail', noon + 3 * minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'cancelled', 'withdrawn', ['cancelled']]);
  // That they were talked to after all outranks it.
  await scenario.settle('spring/1/1', 'answered', noon + 4 * minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'completed', 'answered', ['completed']]);
});

test.from(begin)('after the end of a campaign a late record takes nobody the outcome', async (scenario) => {
  const { store } = scenario;
  await scenario.end('cancelled', noon + 2 * minuteMs);
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toEqual({ kind: 'done' });
  expect(await scenario.close(noon + 2 * minuteMs)).toBe(true);
  await scenario.settle('spring/1/1', 'busy', noon + hourMs);
  expect(await standing(scenario)).toEqual(['done', 'cancelled', 'cancelled', ['cancelled']]);
  expect(await openRound(store, 'spring', noon + hourMs)).toBeUndefined();
  await scenario.settle('spring/1/1', 'opted_out', noon + 2 * hourMs);
  expect(await standing(scenario)).toEqual(['done', 'opted_out', 'opted_out', ['opted_out']]);
});

test.from(begin, { unreached: 'never' })('nor whom it would have called again', async (scenario) => {
  const { store } = scenario;
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toEqual({ kind: 'done' });
  expect(await scenario.close(noon + 2 * minuteMs)).toBe(true);
  await scenario.settle('spring/1/1', 'busy', noon + hourMs);
  expect(await standing(scenario)).toEqual(['done', 'exhausted', 'no_retry_after_unreached', ['exhausted']]);
  expect(await openRound(store, 'spring', noon + hourMs)).toBeUndefined();
});

test('who waits again after a late record may be edited, and the log tells of it', async (dialect) => {
  unjudged();
  const scenario = await beginOn(dialect, { rows: listRows(1), rules: idRules });
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'unknown', noon + minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'unresolved', 'unknown', ['unresolved']]);
  await scenario.settle('spring/1/1', 'busy', noon + 2 * minuteMs);
  expect(await standing(scenario)).toEqual(['waiting', null, null, []]);
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Another Name')], {}, noon + 3 * minuteMs);
  expect(await scenario.broken()).toEqual([]);
  // Was it never given an outcome again, the log shows it.
  await scenario.store.transaction((tx) =>
    changeCampaignState(tx, { campaignId: 'spring', now: noon + hourMs }, { to: 'completed', reason: null }),
  );
  expect(await scenario.broken()).toEqual(['cause_missing', 'outcome_missing']);
});

test('whom a person decides to call again has no outcome in the log either', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: listRows(1), rules: idRules });
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'unknown', noon + minuteMs);
  expect(await scenario.resolve('redial', noon + hourMs)).toMatchObject({ recipients: 1 });
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Another Name')], {}, noon + hourMs);
});
