import { Command } from 'commander';
import { jsonText } from '../../input/json-text.ts';
import { openCampaignSession, tellStart, type CampaignSession, type StartOptions } from './campaign-session.ts';
import { pauseLines } from '../words/campaign.ts';
import type { Io } from '../terminal/io.ts';
import { superviseCampaign } from '../access/supervision.ts';

const examples = `
The campaign file, its list, the service's key, agent and caller number are checked first; when one of them is wrong,
nothing is imported. Running it again is harmless: a campaign of the same id and files is attached to, and one whose
files have changed is refused. So is one whose ends_at, or list.expires_at, leaves somebody without a call even when all answer the first
one (carillon check tells what it needs); --allow-partial starts it all the same, unless nobody can be called.

Exit code 0 when it runs or has ended, 1 when it could not be started, 2 when file or list cannot be used.

Examples:
  carillon start campaign.yaml            import, start, return
  carillon start campaign.yaml --json     the same, with one JSON object on standard output`;

export function startCommand(io: Io): Command {
  return new Command('start')
    .description('Start a campaign, or attach to it, and return; a worker does the rest')
    .argument('<campaign.yaml>', 'campaign file')
    .option('--no-check', 'do not ask the service about agent and caller number first')
    .option('--allow-partial', 'start although there is not time enough to call everybody before the end', false)
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', examples)
    .action(async (campaignPath: string, options: { check: boolean; allowPartial: boolean; json: boolean }) => {
      await runStart(io, { campaignPath, ...options });
    });
}

/** Starts the campaign of a file, or attaches to it. Throws what the parts throw, each with its exit code. */
export async function runStart(io: Io, options: StartOptions & { json: boolean }): Promise<void> {
  const session = await openCampaignSession(io, options);
  try {
    const { result } = session;
    if (options.json) io.stdout.write(`${jsonText(asJson(session))}\n`);
    else io.stdout.write(tellStart(result));
    if (result.kind === 'ended') return;
    const lines = [...pauseLines(result.campaign), ...(await describeObstacles(session))];
    const id = result.campaign.campaignId;
    lines.push(`Follow it: carillon run ${options.campaignPath}   Look at it: carillon status ${id}`);
    lines.push(`Hold it: carillon pause ${id}   End it: carillon cancel ${id}`);
    if (!options.json) io.stderr.write(`${lines.join('\n')}\n`);
  } finally {
    await session.close();
  }
}

async function describeObstacles({ config, store, temporal, result }: CampaignSession): Promise<string[]> {
  if (temporal === null) return [];
  return superviseCampaign({ config, store, temporal, campaignId: result.campaign.campaignId });
}

function asJson({ result }: CampaignSession): object {
  const { campaignId, state, stateReason, rowsTotal, rowsRejected } = result.campaign;
  const round = result.kind === 'ended' ? null : { round: result.round.round, workflowId: result.round.workflowId };
  return {
    campaignId,
    result: result.kind,
    imported: result.kind !== 'ended' && result.imported,
    state,
    stateReason,
    rowsTotal,
    rowsRejected,
    ...round,
  };
}
