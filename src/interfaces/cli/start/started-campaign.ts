import { Command } from 'commander';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { readCampaign, type ReadCampaign } from '../../../campaign/preflight/import-list.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { connected, withControl, type Control } from '../../../operations/control/control.ts';
import { openLedger, type LedgerAccess } from '../../../operations/control/ledger.ts';
import { superviseCampaign } from '../../../operations/control/supervision.ts';
import { startFromFile, type StartResult } from '../../../operations/control/start.ts';
import type { Io } from '../terminal/io.ts';
import { RowProgress } from '../terminal/row-progress.ts';

interface StartFlags {
  /** Whether to ask the service about key, agent and caller number before anything is imported. */
  check: boolean;
  /** Start although not everybody can be called before the end. */
  allowPartial: boolean;
  json: boolean;
}

/** A campaign that was started or attached to, with what it was done with. */
export interface StartedCampaign extends LedgerAccess {
  path: string;
  json: boolean;
  result: StartResult;
  /** What stands in its way that the database does not know. Temporal is not asked about a campaign that has ended. */
  supervise: () => Promise<string[]>;
}

interface StartingCommand {
  name: string;
  description: string;
  /** What `--json` prints. */
  json: string;
  help: string;
  work: (io: Io, started: StartedCampaign) => Promise<void>;
}

/** A command that starts the campaign of a file or attaches to it, and goes on with `work`. */
export function startingCommand(io: Io, { name, description, json, help, work }: StartingCommand): Command {
  return new Command(name)
    .description(description)
    .argument('<campaign.yaml>', 'campaign file')
    .option('--no-check', 'do not ask the service for agent and caller number first')
    .option('--allow-partial', 'start even if there is not enough time to call everybody before the end', false)
    .option('--json', json, false)
    .addHelpText('after', help)
    .action(async (path: string, flags: StartFlags) => {
      const read = await readCampaign(await readCampaignFile(path), io.now());
      await withControl(io, (control) => start(io, { control, path, read, flags }, work), openLedger);
    });
}

async function start(
  io: Io,
  { control, path, read, flags }: { control: Control; path: string; read: ReadCampaign; flags: StartFlags },
  work: StartingCommand['work'],
): Promise<void> {
  const { config, store } = control;
  const { check, allowPartial, json } = flags;
  const result = await startAloud(io, control, read, { check, allowPartial });
  const session = result.kind === 'ended' ? null : await connected(control);
  const supervise = async (): Promise<string[]> => (session === null ? [] : superviseCampaign(session, read.file.id));
  await work(io, { config, store, path, json, result, supervise });
}

/** Starts the campaign of a file and tells on standard error what there is to tell. Throws as `startFromFile`. */
export async function startAloud(
  io: Io,
  control: Control,
  read: ReadCampaign,
  how: { check: boolean; allowPartial: boolean },
): Promise<StartResult> {
  const progress = new RowProgress(io, 'imported');
  return startFromFile(control, read, {
    ...how,
    onNote: (note) => io.stderr.write(`${note}\n`),
    onProgress: (rows) => progress.update(rows),
    onWarnings: (warnings) => {
      progress.clear();
      for (const warning of warnings) io.stderr.write(`Warning: ${warning}.\n`);
      io.stderr.write(`carillon check ${read.file.path} says more.\n`);
    },
  }).finally(() => progress.clear());
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
