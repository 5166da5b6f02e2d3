import { readEvents } from '../../src/ledger/events.ts';
import { readLineLimits } from '../../src/ledger/limits/line-limits.ts';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { settleAttempts } from '../../src/ledger/rows/settle.ts';
import { buildRows, type RulesChanges } from '../support/campaign-rules.ts';
import { beginProven, noon, numbers, type Scenario } from './scenario.ts';

export const accountId = 'http://service';

type Pacing = RulesChanges['pacing'];

/** A campaign of so many people, each with a number that no other campaign of the test has. */
export function begin(store: Store, campaignId: string, pacing: Pacing, people: number, from = 0, more: RulesChanges = {}) {
  const rows = buildRows(numbers(people, from), (index) => `Guest ${index + from}`);
  return beginProven(store, { campaignId, rows, rules: { ...more, pacing } });
}

export async function settle(scenario: Scenario, attemptIds: string[], now = noon): Promise<void> {
  const result = { disposition: 'answered' as const, detail: null, counted: true };
  const settlements = attemptIds.map((attemptId) => ({ attemptId, result }));
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: scenario.campaignId, now }, settlements));
}

export async function limitsOf(scenario: Scenario, now = noon) {
  return readLineLimits(scenario.store.db, await scenario.campaign(), { now });
}

export async function told(scenario: Scenario, type: 'account.pace' | 'campaign.adjusted' | 'account.adjusted') {
  const events = await readEvents(scenario.store.db, scenario.campaignId, { afterSeq: 0, limit: 1_000, types: [type] });
  return events.map(({ data }) => data);
}
