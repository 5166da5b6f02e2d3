import { expect, test } from 'vitest';
import { noteCallers } from '../../../src/ledger/limits/callers.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { holdAccount } from '../../../src/ledger/limits/account-pace.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginCampaign, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects, type TestDialect } from '../test-stores.ts';

const endsAt = noon + 2 * hourMs;
const rowsFor = (count: number) => buildRows(numbers(count), (index) => `Guest ${index}`);

async function outcomes(scenario: Scenario) {
  const rows = await scenario.recipients();
  return new Set(rows.map(({ outcome, reason }) => `${outcome} ${reason}`));
}

/** As many first calls as an unproven caller number may make, all of them failed, and two people left. */
async function callUnproven(dialect: TestDialect, end: number | null): Promise<Scenario> {
  const rules = { endsAt: end, retry: { maxAttempts: 1 } };
  const scenario = await beginCampaign(await openCleanStore(dialect), { rows: rowsFor(22), rules });
  const result = { disposition: 'failed' as const, detail: null, counted: true };
  const settlements = (await scenario.dial(1)).map((attemptId) => ({ attemptId, result }));
  await scenario.store.transaction((tx) =>
    settleAttempts(tx, { campaignId: 'spring', now: noon + minuteMs }, settlements),
  );
  return scenario;
}

test.for(dialects)('a campaign that paused itself because no call got through sees its end: %s', async (dialect) => {
  const scenario = await callUnproven(dialect, endsAt);
  const paused = { kind: 'wait', reason: 'paused', until: endsAt };
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject(paused);
  expect((await scenario.campaign()).stateReason).toContain('None of the first calls led to a conversation');
  expect(await scenario.plan(2, endsAt)).toEqual({ kind: 'done' });
  expect(await outcomes(scenario)).toEqual(new Set(['exhausted attempts_used_up', 'expired campaign_end']));
});

test.for(dialects)('without an end only a person ends that pause: %s', async (dialect) => {
  const scenario = await callUnproven(dialect, null);
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject({ reason: 'paused', until: null });
});

test.for(dialects)('a pause that the service asks for is not slept beyond the end: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rows: rowsFor(2), rules: { endsAt } });
  await store.transaction((tx) => holdAccount(tx, 'http://service', noon + 12 * hourMs));
  expect(await scenario.plan(1)).toMatchObject({ kind: 'wait', reason: 'blocked', until: endsAt });
  expect(await scenario.plan(1, endsAt)).toEqual({ kind: 'done' });
  expect(await outcomes(scenario)).toEqual(new Set(['expired campaign_end']));
  // One that is over before the end is waited for as it is.
  const other = await beginProven(store, {
    campaignId: 'autumn',
    rows: rowsFor(2),
    rules: { endsAt: noon + 24 * hourMs },
  });
  expect(await other.plan(1)).toMatchObject({ kind: 'wait', reason: 'blocked', until: noon + 12 * hourMs });
});

test.for(dialects)('nor is the wait for a caller number that may call: %s', async (dialect) => {
  const rules = { endsAt, callers: { numbers: ['pn_ny', 'pn_fl'], choice: 'region' as const } };
  const scenario = await beginProven(await openCleanStore(dialect), { rows: rowsFor(2), rules });
  const campaign = await scenario.campaign();
  const standing = { e164: '+12125550199', country: 'US', regions: ['NY'], verified: false };
  const found = campaign.rules.callers.numbers.map((phoneNumberId) => ({
    phoneNumberId,
    ...standing,
    fault: 'not_verified' as const,
  }));
  await noteCallers(scenario.store, campaign, { standings: found, faults: null, now: noon });
  expect(await scenario.plan(1)).toMatchObject({ kind: 'wait', reason: 'paused', until: endsAt });
});
