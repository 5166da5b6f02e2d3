import { Command } from 'commander';
import { tellCampaign, wishAsJson } from '../access/campaign-message.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';

const examples = `
If the campaign paused by itself, carillon status shows the reason. Fix it first, or the campaign pauses again.

Example:
  carillon resume reminders`;

export function resumeCommand(io: Io): Command {
  return new Command('resume')
    .description('Continue a paused campaign')
    .argument('<campaign>', 'id of the campaign')
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, { json }: { json: boolean }) => {
      await runResume(io, { campaignId, json });
    });
}

export async function runResume(
  io: Io,
  { json = false, ...options }: { campaignId: string; json?: boolean; limitMs?: number },
): Promise<void> {
  const campaign = await tellCampaign(io, { ...options, wish: 'resume' });
  if (json && campaign !== null) {
    writeJson(io, wishAsJson(campaign));
    return;
  }
  io.stdout.write(`Campaign ${options.campaignId} goes on. See it: carillon status ${options.campaignId}\n`);
}
