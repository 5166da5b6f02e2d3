import { readConfig, type Config } from '../../config.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { readCampaignFile } from '../../campaign-file/file.ts';
import { readCampaign } from '../../import/import-list.ts';
import { startFromFile, type StartResult } from './campaign-start.ts';
import type { Io } from '../terminal/io.ts';
import { openLedger } from '../access/ledger.ts';
import { count, plural } from '../../input/figures.ts';
import { openTemporal, type TemporalAccess } from '../access/temporal.ts';

export interface StartOptions {
  campaignPath: string;
  /** Whether to ask the service about key, agent and caller number before anything is imported. */
  check: boolean;
  /** Start although not everybody can be called before the end. */
  allowPartial: boolean;
}

/** A campaign that was started or attached to, with what it was done with. */
export interface CampaignSession {
  config: Config;
  store: Store;
  /** Null when the campaign has ended and Temporal was not asked. */
  temporal: TemporalAccess | null;
  result: StartResult;
  close(): Promise<void>;
}

/** Starts the campaign of a file with the settings of `io`, or attaches to it. Close the session. */
export async function openCampaignSession(io: Io, options: StartOptions): Promise<CampaignSession> {
  const config = readConfig(io.env);
  const read = await readCampaign(await readCampaignFile(options.campaignPath), io.now());
  const store = await openLedger(config);
  let temporal: TemporalAccess | null = null;
  const close = async (): Promise<void> => {
    await temporal?.connection.close();
    await store.close();
  };
  try {
    const connect = async () => {
      temporal = await openTemporal(io, config);
      return temporal.client;
    };
    const { check, allowPartial } = options;
    const result = await startFromFile(io, read, { config, store, connect, check, allowPartial });
    return { config, store, temporal, result, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What starting did, in a sentence or two. */
export function tellStart(result: StartResult): string {
  const { campaign } = result;
  const id = campaign.campaignId;
  if (result.kind === 'ended') {
    return `Campaign ${id} has ended (${campaign.state}): every row has its outcome. Its results: carillon results ${id}\n`;
  }
  const rows = result.imported
    ? `${plural(campaign.rowsTotal, 'row')} imported: ${count(campaign.rowsTotal - campaign.rowsRejected)} to be called, ${count(campaign.rowsRejected)} rejected (they stand in the results with the reason).\n`
    : '';
  const state = result.kind === 'attached' ? 'is already running' : 'has been started';
  return `${rows}Campaign ${id} ${state}, round ${result.round.round}.\n`;
}
