import { expect, test } from 'vitest';
import type { AttemptResult, Disposition } from '../../../src/rules/disposition.ts';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { changeCampaignState, endCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { resolveUnresolved } from '../../../src/ledger/people/resolve.ts';
import { closeRound, openRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { withdrawRecipients } from '../../../src/ledger/people/withdraw-recipients.ts';
import { buildRows, buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { idRules, listRows, numberOf, upload, uploadRow, violations } from '../edit-world.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

async function settle(scenario: Scenario, attemptId: string, disposition: Disposition, now: number): Promise<void> {
  const result: AttemptResult = { disposition, detail: null, counted: true };
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
}

/** One person, called once without a record; a retry waits. */
async function begin(dialect: (typeof dialects)[number], delays = {}): Promise<Scenario> {
  const scenario = await beginProven(await openCleanStore(dialect), {
    rows: buildRows(numbers(1), (index) => `Guest ${index}`),
    rules: { retry: { delays: { ...buildRules().retry.delays, ...delays } } },
  });
  await scenario.dial(1);
  await settle(scenario, 'spring/1/1', 'unreached', noon + minuteMs);
  return scenario;
}

async function standing(scenario: Scenario) {
  const [row] = await scenario.recipients();
  const counts = await readAggregates(scenario.store.db, 'spring', ['outcome']);
  return [row?.state, row?.outcome, row?.reason, counts.filter(({ count }) => count > 0).map(({ value }) => value)];
}

test.for(dialects)('a late record does not put back in line whom a person withdrew: %s', async (dialect) => {
  const scenario = await begin(dialect);
  const withdrawn = { campaignId: 'spring', note: null, dryRun: false };
  await withdrawRecipients(scenario.store, { ...withdrawn, now: noon + 2 * minuteMs }, { rows: [1] });
  await settle(scenario, 'spring/1/1', 'busy', noon + 3 * minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'cancelled', 'withdrawn', ['cancelled']]);
  expect(await scenario.plan(2, noon + hourMs)).toEqual({ kind: 'done' });
  // Nor does it turn into an outcome that could be retried.
  await settle(scenario, 'spring/1/1', 'voicemail', noon + 3 * minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'cancelled', 'withdrawn', ['cancelled']]);
  // That they were talked to after all outranks it.
  await settle(scenario, 'spring/1/1', 'answered', noon + 4 * minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'completed', 'answered', ['completed']]);
  expect(await violations(scenario.store)).toEqual([]);
});

test.for(dialects)('after the end of a campaign a late record takes nobody the outcome: %s', async (dialect) => {
  const scenario = await begin(dialect);
  const { store } = scenario;
  await endCampaign(store, { campaignId: 'spring', now: noon + 2 * minuteMs }, { why: 'cancelled' });
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toEqual({ kind: 'done' });
  expect(await closeRound(store, { campaignId: 'spring', now: noon + 2 * minuteMs }, 1)).toBe(true);
  await settle(scenario, 'spring/1/1', 'busy', noon + hourMs);
  expect(await standing(scenario)).toEqual(['done', 'cancelled', 'cancelled', ['cancelled']]);
  expect(await openRound(store, 'spring', noon + hourMs)).toBeUndefined();
  await settle(scenario, 'spring/1/1', 'opted_out', noon + 2 * hourMs);
  expect(await standing(scenario)).toEqual(['done', 'opted_out', 'opted_out', ['opted_out']]);
  expect(await violations(store)).toEqual([]);
});

test.for(dialects)('nor whom it would have called again: %s', async (dialect) => {
  const scenario = await begin(dialect, { unreached: 'never' });
  const { store } = scenario;
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toEqual({ kind: 'done' });
  expect(await closeRound(store, { campaignId: 'spring', now: noon + 2 * minuteMs }, 1)).toBe(true);
  await settle(scenario, 'spring/1/1', 'busy', noon + hourMs);
  expect(await standing(scenario)).toEqual(['done', 'exhausted', 'no_retry_after_unreached', ['exhausted']]);
  expect(await openRound(store, 'spring', noon + hourMs)).toBeUndefined();
});

test.for(dialects)('who waits again after a late record may be edited, and the log tells of it: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: listRows(1), rules: idRules });
  await scenario.dial(1);
  await settle(scenario, 'spring/1/1', 'unknown', noon + minuteMs);
  expect(await standing(scenario)).toEqual(['done', 'unresolved', 'unknown', ['unresolved']]);
  await settle(scenario, 'spring/1/1', 'busy', noon + 2 * minuteMs);
  expect(await standing(scenario)).toEqual(['waiting', null, null, []]);
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Another Name')], {}, noon + 3 * minuteMs);
  expect(await violations(scenario.store)).toEqual([]);
  // Was it never given an outcome again, the log shows it.
  await scenario.store.transaction((tx) =>
    changeCampaignState(tx, { campaignId: 'spring', now: noon + hourMs }, { to: 'completed', reason: null }),
  );
  expect(await violations(scenario.store)).toMatchObject([{ rule: 'outcome_missing' }, { rule: 'cause_missing' }]);
});

test.for(dialects)('whom a person decides to call again has no outcome in the log either: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), { rows: listRows(1), rules: idRules });
  await scenario.dial(1);
  await settle(scenario, 'spring/1/1', 'unknown', noon + minuteMs);
  expect(await resolveUnresolved(scenario.store, { campaignId: 'spring', now: noon + hourMs }, 'redial')).toMatchObject({ recipients: 1 });
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Another Name')], {}, noon + hourMs);
  expect(await violations(scenario.store)).toEqual([]);
});
