import { Command } from 'commander';
import { jsonText } from '../../input/json-text.ts';
import { openCampaignSession, tellStart, type CampaignSession, type StartOptions } from './campaign-session.ts';
import { pauseLines } from '../words/campaign.ts';
import type { Io } from '../terminal/io.ts';
import { superviseCampaign } from '../access/supervision.ts';

const examples = `
Checks the campaign file, its list, the API key, the agent and the caller number first; if one of them is wrong, nothing is
imported. Repeating the command is harmless: it attaches to a campaign with the same id and files. It refuses a campaign whose files
have changed, and one whose ends_at or list.expires_at leaves somebody without a call even if everybody answers the first one
(carillon check shows what is needed). --allow-partial starts such a campaign anyway, unless nobody can be called.

Exit code 0 if the campaign runs or has ended, 1 if it could not be started, 2 if the file or the list is invalid.

Examples:
  carillon start campaign.yaml            import, start, return
  carillon start campaign.yaml --json     the same, with one JSON object on standard output`;

export function startCommand(io: Io): Command {
  return new Command('start')
    .description('Start a campaign or attach to it, and return; a worker does the rest')
    .argument('<campaign.yaml>', 'campaign file')
    .option('--no-check', 'do not ask the service for agent and caller number first')
    .option('--allow-partial', 'start even if there is not enough time to call everybody before the end', false)
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
