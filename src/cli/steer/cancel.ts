import { Command } from 'commander';
import { tellCampaign, wishAsJson } from '../access/campaign-message.ts';
import { confirmOnTerminal, type Confirm } from '../terminal/confirmation.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';

const examples = `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. This cannot
be undone. On a terminal the command asks for confirmation.

Examples:
  carillon cancel reminders
  carillon cancel reminders --yes`;

export interface CancelOptions {
  campaignId: string;
  yes: boolean;
  json?: boolean;
  limitMs?: number;
}

export function cancelCommand(io: Io): Command {
  return new Command('cancel')
    .description('End a campaign; waiting recipients are not called')
    .argument('<campaign>', 'id of the campaign')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, options: { yes: boolean; json: boolean }) => {
      await runCancel(io, { campaignId, ...options });
    });
}

export async function runCancel(
  io: Io,
  options: CancelOptions,
  confirm: Confirm = confirmOnTerminal(io),
): Promise<void> {
  const { campaignId: id, yes, json = false, ...limit } = options;
  const question = `End campaign ${id}? Recipients that wait will not be called, and it cannot be undone.`;
  const campaign = await tellCampaign(io, {
    ...limit,
    campaignId: id,
    wish: 'cancel',
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
    `Campaign ${id} is being cancelled: no further dials; calls that are open are still collected. See it: carillon status ${id}\n`,
  );
}
