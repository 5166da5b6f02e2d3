import { realClock } from '../../service/port/service-clock.ts';
import { keepServiceClock } from '../../temporal/clock-keeper.ts';
import { createCampaignView } from '../access/campaign-view.ts';
import { connected, type OpenCampaign } from '../../control/control.ts';
import type { Io } from '../terminal/io.ts';
import { superviseCampaign } from '../../control/supervision.ts';
import { watchCampaign, type Snapshot } from '../access/watch-campaign.ts';

const temporalLimitMs = 2_000;

/**
 * Shows a campaign on standard error until it has ended or the user leaves; answers its last snapshot. Only the database is
 * needed: Temporal and the service, where they answer, add whether a worker is there and how fast time goes.
 */
export async function waitForEnd(io: Io, open: OpenCampaign, leave: AbortSignal): Promise<Snapshot> {
  const { config, store, campaign } = open;
  const { campaignId } = campaign;
  const session = await connected(open, temporalLimitMs).catch(() => null);
  const readClock = keepServiceClock(config.SVC_BASE_URL);
  const clock = () => readClock().catch(() => realClock(Date.now));
  const supervise = async () => (session === null ? [] : superviseCampaign(session, campaignId));
  const isTerminal = (io.stderr as { isTTY?: boolean }).isTTY === true;
  const view = createCampaignView({ ...io, isTerminal }, io.stderr, 'Press Ctrl-C to leave; the campaign continues.');
  return watchCampaign({ store, campaignId, clock, fromSeq: null, view, leave, supervise });
}
