import type { Command } from 'commander';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { countDoubt } from '../../../ledger/read/doubt-counts.ts';
import { keepServiceClock } from '../../../temporal/clock-keeper.ts';
import { createCampaignView } from '../access/campaign-view.ts';
import { watchCampaign } from '../access/watch-campaign.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { writeJson } from '../terminal/json-output.ts';
import { renderOutcomes, statusAsJson } from '../../../presentation/words/campaign.ts';
import { unresolvedLines } from '../../../presentation/words/doubts.ts';
import { startingCommand, tellStart, type StartedCampaign } from './started-campaign.ts';

const help = `
Refuses whatever carillon start refuses. Ctrl-C leaves and the campaign continues; run the same command to watch it again.

Exit code 0 if the campaign completed; 1 if it was cancelled, could not be started, or you left before its end; 2 if the file or
the list is invalid.

Examples:
  carillon run campaign.yaml
  carillon run campaign.yaml --json > end.json     progress on standard error, the final status on standard output`;

export function runCommand(io: Io): Command {
  return startingCommand(io, {
    name: 'run',
    description: 'Start a campaign or attach to it, and watch it until it ends',
    json: 'print the final status as JSON',
    help,
    work: watch,
  });
}

/** Shows the campaign until it has ended or the user leaves. */
async function watch(io: Io, started: StartedCampaign): Promise<void> {
  const { config, store, path, json, result, supervise } = started;
  const { campaignId } = result.campaign;
  (json ? io.stderr : io.stdout).write(tellStart(result));
  // The display is for people: with --json it gives way to lines on standard error.
  const view = json
    ? createCampaignView({ ...io, isTerminal: false }, io.stderr, '')
    : createCampaignView(io, io.stdout, 'Press Ctrl-C to leave; the campaign continues.');
  const clock = keepServiceClock(config.SVC_BASE_URL);
  const fromSeq = result.kind === 'started' ? 0 : null;
  const { campaign, status } = await untilInterrupted(io, ({ signal: leave }) =>
    watchCampaign({ store, campaignId, clock, fromSeq, view, leave, supervise }),
  );
  if (json) writeJson(io, withInstants(statusAsJson(campaign, status)));
  if (!hasEnded(campaign)) {
    io.stderr.write(
      `You left; campaign ${campaignId} continues while a worker is running.\n` +
        `Watch it again: carillon run ${path}   Show its progress: carillon status ${campaignId}   Pause it: carillon pause ${campaignId}\n`,
    );
    io.exitCode = 1;
    return;
  }
  if (!json) {
    io.stdout.write(renderOutcomes(campaign, status, io.colour));
    const doubt = await countDoubt(store.db, campaign, { status, now: Date.now() });
    for (const line of unresolvedLines(campaign, doubt)) io.stdout.write(`${line}\n`);
    io.stdout.write(`\nEvery row with its outcome: carillon results ${campaignId}\n`);
  }
  io.exitCode = campaign.state === 'completed' ? 0 : 1;
}
