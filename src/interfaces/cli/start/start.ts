import type { Command } from 'commander';
import { jsonText } from '../../../shared/input/printable.ts';
import type { Io } from '../terminal/io.ts';
import { pauseLines } from '../../../presentation/words/campaign.ts';
import type { StartResult } from '../../../operations/control/start.ts';
import { startingCommand, tellStart, type StartedCampaign } from './started-campaign.ts';

const help = `
Checks the campaign file, its list, the API key, the agent and the caller number first; if one of them is wrong, nothing is
imported. Repeating the command is harmless: it attaches to a campaign with the same id and files. It refuses a campaign whose files
have changed, and one whose ends_at or list.expires_at leaves somebody without a call even if everybody answers the first one
(carillon check shows what is needed). --allow-partial starts such a campaign anyway, unless nobody can be called.

Exit code 0 if the campaign runs or has ended, 1 if it could not be started, 2 if the file or the list is invalid.

Examples:
  carillon start campaign.yaml            import, start, return
  carillon start campaign.yaml --json     the same, with one JSON object on standard output`;

export function startCommand(io: Io): Command {
  return startingCommand(io, {
    name: 'start',
    description: 'Start a campaign or attach to it, and return; a worker does the rest',
    json: 'print one JSON object',
    help,
    work: tellStarted,
  });
}

async function tellStarted(io: Io, { path, json, result, supervise }: StartedCampaign): Promise<void> {
  io.stdout.write(json ? `${jsonText(asJson(result))}\n` : tellStart(result));
  if (result.kind === 'ended') return;
  const id = result.campaign.campaignId;
  const lines = [
    ...pauseLines(result.campaign),
    ...(await supervise()),
    `Watch it: carillon run ${path}   Show its progress: carillon status ${id}`,
    `Pause it: carillon pause ${id}   End it: carillon cancel ${id}`,
  ];
  if (!json) io.stderr.write(`${lines.join('\n')}\n`);
}

function asJson(result: StartResult): object {
  const { campaignId, state, stateReason, rowsTotal, rowsRejected } = result.campaign;
  const round = result.kind === 'ended' ? null : { round: result.round.round, workflowId: result.round.workflowId };
  const imported = result.kind !== 'ended' && result.imported;
  return { campaignId, result: result.kind, imported, state, stateReason, rowsTotal, rowsRejected, ...round };
}
