import type { Config } from '../../config.ts';
import type { ServiceClock } from '../../convai/service-clock.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import { findCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { startCampaign } from '../../temporal/start-campaign.ts';
import { sendUpdate } from './campaign-message.ts';
import type { TemporalAccess } from './temporal.ts';

const answerLimitMs = 20_000;

/** Makes the redialled recipients move: the next round of an ended campaign, or a new look of a running one. */
export async function setGoing(
  deps: { config: Config; store: Store; temporal: TemporalAccess; clock: ServiceClock },
  before: Campaign,
): Promise<string> {
  const { config, store, temporal } = deps;
  const id = before.campaignId;
  const campaign = (await findCampaign(store.db, id)) ?? before;
  if (hasEnded(campaign)) {
    const now = Math.round(deps.clock.now());
    const started = await startCampaign({ config, store, client: temporal.client, now }, id);
    return started === undefined ? '' : ` Round ${started.round.round} has been started: carillon status ${id}`;
  }
  if (campaign.state === 'paused') return ` The campaign is paused: carillon resume ${id} sets it going.`;
  if (campaign.state === 'running') {
    const { ledgerId } = store;
    await sendUpdate(config, temporal, { campaign, wish: 'look', ledgerId, limitMs: answerLimitMs });
  }
  return '';
}
