import { Command } from 'commander';
import { tellCampaign, wishAsJson } from '../access/campaign-message.ts';
import { confirmOnTerminal, type Confirm } from '../terminal/confirmation.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';

const examples = `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. The campaign
then ends as completed; to end it as cancelled, use carillon cancel. This cannot be undone. On a terminal the command asks for
confirmation.

Examples:
  carillon drain reminders
  carillon drain reminders --yes`;

export interface DrainOptions {
  campaignId: string;
  yes: boolean;
  json?: boolean;
  limitMs?: number;
}

export function drainCommand(io: Io): Command {
  return new Command('drain')
    .description('Finish open calls, call no waiting recipients, and complete the campaign')
    .argument('<campaign>', 'id of the campaign')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, options: { yes: boolean; json: boolean }) => {
      await runDrain(io, { campaignId, ...options });
    });
}

export async function runDrain(io: Io, options: DrainOptions, confirm: Confirm = confirmOnTerminal(io)): Promise<void> {
  const { campaignId: id, yes, json = false, ...limit } = options;
  const question = `Drain campaign ${id}? Recipients that wait will not be called, and it cannot be undone.`;
  const campaign = await tellCampaign(io, {
    ...limit,
    campaignId: id,
    wish: 'drain',
    ...(yes ? {} : { confirm: () => confirm(question) }),
  });
  if (campaign === null) {
    io.stderr.write('Nothing was changed.\n');
    io.exitCode = 1;
    return;
  }
  if (json) {
    writeJson(io, wishAsJson(campaign));
    return;
  }
  io.stdout.write(
    `Campaign ${id} is draining: no further dials; it completes when the open calls are collected. See it: carillon status ${id}\n`,
  );
}
