import { Command } from 'commander';
import { jsonText } from '../../input/json-text.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import { countDoubt } from '../../ledger/read/doubt-counts.ts';
import { keepServiceClock } from '../../temporal/clock-keeper.ts';
import { openCampaignSession, tellStart, type CampaignSession, type StartOptions } from './campaign-session.ts';
import { CampaignReader, type Snapshot } from '../access/campaign-snapshot.ts';
import { renderOutcomes } from '../words/campaign.ts';
import { createCampaignView } from '../access/campaign-view.ts';
import { unresolvedLines } from '../words/doubts.ts';
import type { Io } from '../terminal/io.ts';
import { statusAsJson } from '../access/status-json.ts';
import { superviseCampaign } from '../access/supervision.ts';
import { watchCampaign } from '../access/watch-campaign.ts';

const examples = `
Refuses whatever carillon start refuses. Ctrl-C leaves and the campaign continues; run the same command to watch it again.

Exit code 0 if the campaign completed; 1 if it was cancelled, could not be started, or you left before its end; 2 if the file or
the list is invalid.

Examples:
  carillon run campaign.yaml
  carillon run campaign.yaml --json > end.json     progress on standard error, the final status on standard output`;

export interface RunOptions extends StartOptions {
  json: boolean;
}

export function runCommand(io: Io): Command {
  return new Command('run')
    .description('Start a campaign or attach to it, and watch it until it ends')
    .argument('<campaign.yaml>', 'campaign file')
    .option('--no-check', 'do not ask the service for agent and caller number first')
    .option('--allow-partial', 'start even if there is not enough time to call everybody before the end', false)
    .option('--json', 'print the final status as JSON', false)
    .addHelpText('after', examples)
    .action(async (campaignPath: string, options: { check: boolean; allowPartial: boolean; json: boolean }) => {
      await runRun(io, { campaignPath, ...options });
    });
}

/** Starts or attaches, then shows the campaign until it has ended or the user leaves. */
export async function runRun(io: Io, options: RunOptions): Promise<void> {
  const session = await openCampaignSession(io, options);
  try {
    const words = options.json ? io.stderr : io.stdout;
    words.write(tellStart(session.result));
    const snapshot = await watchSession(io, session, options);
    const { campaign, status } = snapshot;
    if (options.json) io.stdout.write(`${jsonText(statusAsJson(campaign, status), 2)}\n`);
    if (!hasEnded(campaign)) {
      io.stderr.write(`${leaveText(campaign.campaignId, options.campaignPath)}\n`);
      io.exitCode = 1;
      return;
    }
    if (!options.json) {
      io.stdout.write(renderOutcomes(campaign, status, io.colour));
      const doubt = await countDoubt(session.store.db, campaign, status, Date.now());
      for (const line of unresolvedLines(campaign, doubt)) io.stdout.write(`${line}\n`);
      io.stdout.write(`\nEvery row with its outcome: carillon results ${campaign.campaignId}\n`);
    }
    io.exitCode = campaign.state === 'completed' ? 0 : 1;
  } finally {
    await session.close();
  }
}

async function watchSession(io: Io, session: CampaignSession, options: RunOptions): Promise<Snapshot> {
  const { config, store, temporal, result } = session;
  const { campaignId } = result.campaign;
  const leaving = new AbortController();
  const takeBack = io.onInterrupt(() => leaving.abort());
  const reader = new CampaignReader({
    store,
    campaignId,
    clock: keepServiceClock(config.SVC_BASE_URL),
    now: Date.now,
    fromSeq: result.kind === 'started' ? 0 : null,
  });
  // The display is for people: with --json it gives way to lines on standard error.
  const view = options.json
    ? createCampaignView({ ...io, isTerminal: false }, io.stderr, '')
    : createCampaignView(io, io.stdout, 'Ctrl-C leaves; the campaign goes on.');
  try {
    return await watchCampaign({
      reader,
      view,
      leave: leaving.signal,
      supervise: () =>
        temporal === null ? Promise.resolve([]) : superviseCampaign({ config, store, temporal, campaignId }),
    });
  } finally {
    view.close();
    takeBack();
  }
}

function leaveText(id: string, path: string): string {
  return [
    `Left; campaign ${id} goes on as long as a worker runs.`,
    `Watch it again: carillon run ${path}   Look at it: carillon status ${id}   Hold it: carillon pause ${id}`,
  ].join('\n');
}
