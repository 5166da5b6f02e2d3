import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import type { ServiceOf } from '../../src/rules/service-api.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import type { UploadRow } from '../../src/ledger/people/edit-verdict.ts';
import { openForMs, rulesOf, type Scenario } from './scenarios.ts';
import type { Store } from '../../src/ledger/tx.ts';

export const campaignId = 'small';

/** Puts the campaign of a scenario into an empty database, and opens its first round. */
export async function importSmall(
  store: Store,
  scenario: Scenario,
  { rows, service, now }: { rows: readonly UploadRow[]; service: ServiceOf; now: number },
): Promise<void> {
  // One to which rows may be added has an end.
  const rules = { ...rulesOf(scenario), ...(scenario.staysOpen === true ? { endsAt: now + openForMs } : {}) };
  const campaign = { campaignId, name: null, fileHash: 'hash', rules, ...service };
  const chunks = (async function* () {
    yield [...rows];
  })();
  await importCampaign(store, campaign, { chunks, now });
  await openRound(store, campaignId, now);
}
