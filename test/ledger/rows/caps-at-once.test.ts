import { expect, test } from 'vitest';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRows, hourMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { violations } from '../edit-world.ts';
import { beginProven, numbers, type Scenario } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

const people = 8;

/** The same people in each campaign, under numbers that no other one has; in the second the other way round. */
function rowsOf(campaign: number) {
  const rows = buildRows(numbers(people, campaign * people), (index) => `Guest ${campaign}-${index}`);
  const named = rows.map((row, index) => ({ ...row, externalId: `person${index}` }));
  return (campaign === 1 ? named.toReversed() : named).map((row, index) => ({ ...row, row: index + 1 }));
}

test.for(bothDialects)(
  'campaigns that dial the same people at the same moment keep a cap by person together: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const rules = { caps: [{ by: 'person' as const, calls: 1, withinMs: 24 * hourMs }] };
    const scenarios: Scenario[] = [];
    for (const [index, campaignId] of ['autumn', 'spring', 'summer'].entries())
      scenarios.push(await beginProven(store, { campaignId, rules, rows: rowsOf(index) }));
    for (const scenario of scenarios) expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: people });
    // Each has a connection of its own, or they would take turns to get one.
    await Promise.all(scenarios.map((scenario) => store.transaction((tx) => findCampaign(tx, scenario.campaignId))));
    await Promise.all(scenarios.map((scenario) => scenario.post(1)));
    expect(await violations(store)).toEqual([]);
    const attempts = await store.db.selectFrom('attempts').select('state').where('state', '=', 'posting').execute();
    expect(attempts).toHaveLength(people);
  },
);
