import { hasEnded } from '../../domain/lifecycle.ts';
import { findCampaign } from '../../ledger/rows/campaigns.ts';
import type { ServiceClock } from '../../convai/service-clock.ts';
import { requireService, startCampaign } from '../../temporal/start-campaign.ts';
import { connected, withCampaign, type OpenCampaign } from '../../control/control.ts';
import { readClock } from '../../control/service.ts';
import { sendUpdate } from '../../control/campaign-message.ts';
import type { Session } from '../../control/temporal.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';

/** Who decides about which campaign, and how that is told. */
export interface DeskInput {
  io: Io;
  campaignId: string;
  yes: boolean;
  json: boolean;
}

/** All that a decision about calls in doubt needs. */
export interface Desk extends DeskInput, OpenCampaign {
  clock: ServiceClock;
}

/** Does the work with database and service clock at hand. */
export async function atDesk(input: DeskInput, work: (desk: Desk) => Promise<void>): Promise<void> {
  await withCampaign(input.io, input.campaignId, async (open) =>
    work({ ...input, ...open, clock: await readClock(open.config) }),
  );
}

/**
 * Does the work at once, or, where rows are dialled again, after a person has said yes to that. `setOff` then makes them move, and says
 * what else is to be done.
 */
export async function whenAgreed(
  desk: Desk,
  redial: { risk: string; question: string } | null,
  work: (setOff: () => Promise<string>) => Promise<void>,
): Promise<void> {
  if (redial === null) return work(() => Promise.resolve(''));
  const { io, config, campaign, yes } = desk;
  requireService(config, campaign);
  io.stderr.write(`${redial.risk}\n`);
  if (!(await mayBegin(io, yes, redial.question))) return;
  // Connected before the decision is written, so that what it sets going can go.
  const session = await connected(desk);
  await work(() => setOff(desk, session));
}

/** Makes the redialled recipients move: the next round of an ended campaign, or a new look of a running one. */
async function setOff(desk: Desk, session: Session): Promise<string> {
  const { config, store, campaignId: id, clock } = desk;
  const campaign = (await findCampaign(store.db, id)) ?? desk.campaign;
  if (hasEnded(campaign)) {
    const started = await startCampaign(
      { config, store, client: session.temporal.client, now: Math.round(clock.now()) },
      id,
    );
    return started === undefined ? '' : ` Round ${started.round.round} has been started: carillon status ${id}`;
  }
  if (campaign.state === 'paused') return ` The campaign is paused: carillon resume ${id} sets it going.`;
  if (campaign.state === 'running') await sendUpdate(session, { campaign, wish: 'look' });
  return '';
}
