import { Command } from 'commander';
import { withControl, connected, withCampaign } from '../../../operations/control/control.ts';
import { capital } from '../../../shared/input/figures.ts';
import { sentencesOf } from '../../../operations/list.ts';
import type { PlainRun } from '../../../operations/runs/run.ts';
import { plainRuns, type PlainId } from '../../../operations/runs/steer.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin, writeAnswer, RowProgress } from '../terminal/answer.ts';
import { recoverCampaign } from '../../../operations/control/recover.ts';
import { superviseCampaign } from '../../../operations/control/supervision.ts';
import { pauseLines } from '../../../presentation/words/campaign.ts';

const asks = '\nThis cannot be undone. The command asks for confirmation; without a terminal it needs --yes.';

/** The command of an operation on a campaign as a whole, such as `carillon pause`: its words are those of the operation. */
export function plainCommand(id: PlainId): (io: Io) => Command {
  const { action: name, ends, done, next, help, look, run }: PlainRun = plainRuns[id];
  const examples = [`carillon ${name} reminders`, ...(ends ? [`carillon ${name} reminders --yes`] : [])];
  return (io) => {
    const command = new Command(name).argument('<campaign>', 'id of the campaign');
    if (ends) command.option('-y, --yes', 'do not ask for confirmation', false);
    return command
      .option('--json', 'print JSON', false)
      .addHelpText('after', `${help}${ends ? asks : ''}\n\nExample${ends ? 's' : ''}:\n${examples.map((line) => `  ${line}`).join('\n')}`)
      .action(async (campaignId: string, { yes = false, json }: { yes?: boolean; json: boolean }) => {
        let isTold = false;
        const tell = ({ state, stateReason, round }: Told): void => {
          isTold = true;
          const data = { campaignId, state, stateReason, round };
          writeAnswer(io, json, { data, words: `Campaign ${campaignId} ${done}. ${next} ${campaignId}\n` });
        };
        await withControl(io, async (control) => {
          const body = await look?.(control, campaignId);
          const question = `${capital(name)} campaign ${campaignId}? ${sentencesOf(id)}`;
          if (ends && !(await mayBegin(io, yes, question))) return;
          const input = { campaign: campaignId, query: undefined, body };
          const answer = await run({ ...control, by: null, onCommitted: tell }, input);
          if (!isTold) tell(answer);
          if (answer.notice !== null)
            io.stderr.write(`The ${name} is committed, but the workflow could not be notified (see carillon status).\n`);
        });
      });
  };
}

interface Told {
  state: string;
  stateReason: string | null;
  round: number;
}

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
