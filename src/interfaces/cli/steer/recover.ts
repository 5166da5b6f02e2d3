import { Command } from 'commander';
import { connected, withCampaign } from '../../../operations/control/control.ts';
import { recoverCampaign } from '../../../operations/control/recover.ts';
import { superviseCampaign } from '../../../operations/control/supervision.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { RowProgress } from '../terminal/row-progress.ts';
import { pauseLines } from '../../../presentation/words/campaign.ts';

const help = `
For a campaign whose workflow Temporal has lost, while the database was kept. Starts the workflow anew; the ledger says what was sent,
and none of it is sent again. A paused campaign stays paused.

Before, the service's list of conversations is read to its end. If it shows calls that the database does not know, the database was
probably set back, and nothing is started: going on would call those people twice. The same applies if the list cannot be read. A
campaign whose workflow runs, or that has ended, is refused.

Example:
  carillon recover reminders`;

export function recoverCommand(io: Io): Command {
  return new Command('recover')
    .argument('<campaign>', 'id of the campaign')
    .option('--json', 'print JSON', false)
    .addHelpText('after', help)
    .action((campaignId: string, flags: { json: boolean }) => runRecover(io, campaignId, flags));
}

async function runRecover(io: Io, campaignId: string, { json }: { json: boolean }): Promise<void> {
  await withCampaign(io, campaignId, async (open) => {
    const progress = new RowProgress(io, 'read', 'conversations of the service');
    const onProgress = (conversations: number): void => progress.update(conversations);
    const recovering = recoverCampaign(open, { campaignId, onProgress });
    const { campaign, workflowId } = await recovering.finally(() => progress.clear());
    const { state, stateReason, round } = campaign;
    const words = `Campaign ${campaignId} has been restarted from the database, round ${round}.\n`;
    writeAnswer(io, json, { data: { campaignId, state, stateReason, round, workflowId }, words });
    if (json) return;
    const lines = [
      ...pauseLines(campaign),
      ...(await superviseCampaign(await connected(open), campaignId)),
      `Show its progress: carillon status ${campaignId}`,
    ];
    io.stderr.write(`${lines.join('\n')}\n`);
  });
}
