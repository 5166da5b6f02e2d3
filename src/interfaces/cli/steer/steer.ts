import { Command } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { capital } from '../../../shared/input/figures.ts';
import { sentencesOf } from '../../../operations/list.ts';
import type { PlainRun } from '../../../operations/runs/run.ts';
import { plainRuns, type PlainId } from '../../../operations/runs/steer.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeAnswer } from '../terminal/json-output.ts';

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
