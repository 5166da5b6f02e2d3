import type { Config } from '../../config.ts';
import { findCampaign } from '../../ledger/rows/campaigns.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { sendUpdate } from './campaign-message.ts';
import type { Io } from '../terminal/io.ts';
import { openTemporal } from './temporal.ts';

const connectLimitMs = 5_000;
const answerLimitMs = 20_000;

/**
 * Makes a running campaign see at once that its rows or limits were changed; any other sees it when it goes on. Answers false, with the
 * reason on standard error, when it could not be told: then it sees the change at its next look.
 */
export async function tellToLook(io: Io, config: Config, store: Store, campaignId: string): Promise<boolean> {
  const campaign = await findCampaign(store.db, campaignId);
  if (campaign?.state !== 'running') return true;
  try {
    const temporal = await openTemporal(io, config, connectLimitMs);
    try {
      const { ledgerId } = store;
      await sendUpdate(config, temporal, { campaign, wish: 'look', ledgerId, limitMs: answerLimitMs });
      return true;
    } finally {
      await temporal.connection.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    io.stderr.write(
      `The change is written, but campaign ${campaignId} could not be told: ${why}\nIt holds from the campaign's next look on; carillon resume ${campaignId} makes it look at once.\n`,
    );
    return false;
  }
}
