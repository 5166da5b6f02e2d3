import { realClock } from '../../convai/service-clock.ts';
import type { Config } from '../../config.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { keepServiceClock } from '../../temporal/clock-keeper.ts';
import { createCampaignView } from '../access/campaign-view.ts';
import type { Io } from '../terminal/io.ts';
import { superviseCampaign } from '../access/supervision.ts';
import { openTemporal } from '../access/temporal.ts';
import { watchCampaign, type Snapshot } from '../access/watch-campaign.ts';

const temporalLimitMs = 2_000;

/**
 * Shows a campaign on standard error until it has ended or the user leaves; answers its last snapshot. Only the database is
 * needed: Temporal and the service, where they answer, add whether a worker is there and how fast time goes.
 */
export async function waitForEnd(
  io: Io,
  input: { config: Config; store: Store; campaignId: string; leave: AbortSignal },
): Promise<Snapshot> {
  const { config, store, campaignId, leave } = input;
  const temporal = await openTemporal(io, config, temporalLimitMs).catch(() => null);
  const clock = keepServiceClock(config.SVC_BASE_URL);
  const isTerminal = (io.stderr as { isTTY?: boolean }).isTTY === true;
  const view = createCampaignView({ ...io, isTerminal }, io.stderr, 'Ctrl-C leaves; the campaign goes on.');
  try {
    return await watchCampaign({
      store,
      campaignId,
      clock: () => clock().catch(() => realClock(Date.now)),
      fromSeq: null,
      view,
      leave,
      ...(temporal === null ? {} : { supervise: () => superviseCampaign({ config, store, temporal }, campaignId) }),
    });
  } finally {
    await temporal?.connection.close();
  }
}
