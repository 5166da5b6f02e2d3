import { expect, test } from 'vitest';
import { endCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { RedialRefusedError, resolveUnresolved } from '../../../src/ledger/people/resolve.ts';
import { buildRows, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

const endsAt = noon + 12 * hourMs;

/** A campaign of which one batch was lost without a trace, so that a person has to decide. */
async function heldBatch(dialect: (typeof dialects)[number], rules: RulesChanges = {}): Promise<Scenario> {
  const store = await openCleanStore(dialect);
  const rows = buildRows(numbers(2), (index) => `Guest ${index}`);
  const scenario = await beginProven(store, { rows, rules });
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'unknown');
  await scenario.sweep(noon + hourMs);
  expect(await scenario.batch(1)).toMatchObject({ state: 'held' });
  return scenario;
}

async function expectUntouched(scenario: Scenario): Promise<void> {
  expect(await scenario.batch(1)).toMatchObject({ state: 'held' });
  for (const row of await scenario.recipients()) expect(row).toMatchObject({ state: 'done', outcome: 'unresolved', counted: 1 });
}

test.for(dialects)('after ends_at nobody is redialled, and the rows stay unresolved: %s', async (dialect) => {
  const scenario = await heldBatch(dialect, { endsAt });
  const { store } = scenario;
  const refused = await resolveUnresolved(store, { campaignId: 'spring', now: endsAt }, 'redial').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RedialRefusedError);
  expect(refused).toMatchObject({
    isBadInput: true,
    remedy: { kind: 'leave_unresolved', campaignId: 'spring' },
    message: expect.stringMatching(
      /^Campaign spring ended for good at 2030-01-16T00:00:00\.000Z \(ends_at\): .* stay unresolved\. Start a new campaign/,
    ),
  });
  await expectUntouched(scenario);
  expect(await resolveUnresolved(store, { campaignId: 'spring', now: endsAt }, 'give_up')).toMatchObject({
    recipients: 2,
  });
});

test.for(dialects)('just before ends_at they are: %s', async (dialect) => {
  const { store } = await heldBatch(dialect, { endsAt });
  expect(await resolveUnresolved(store, { campaignId: 'spring', now: endsAt - 1 }, 'redial')).toMatchObject({
    recipients: 2,
  });
});

test.for(dialects)('while a campaign drains nobody is redialled: %s', async (dialect) => {
  for (const why of ['cancelled', 'drained'] as const) {
    const scenario = await heldBatch(dialect);
    const { store } = scenario;
    const now = noon + hourMs + minuteMs;
    await endCampaign(store, { campaignId: 'spring', now }, { why });
    const refused = await resolveUnresolved(store, { campaignId: 'spring', now }, 'redial').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RedialRefusedError);
    expect(refused).toMatchObject({
      isBadInput: true,
      remedy: { kind: 'await_end', campaignId: 'spring' },
      message: expect.stringMatching(/^Campaign spring is draining: .* stay unresolved\. Repeat this when it has ended/),
    });
    await expectUntouched(scenario);
    expect(await resolveUnresolved(store, { campaignId: 'spring', now }, 'give_up')).toMatchObject({ recipients: 2 });
  }
});
