import { Command } from 'commander';
import { tellCampaign } from './campaign-message.ts';
import type { Io } from './io.ts';

const examples = `
A campaign that has paused by itself says why in carillon status; mend that first, or it pauses again.

Example:
  carillon resume reminders`;

export function resumeCommand(io: Io): Command {
  return new Command('resume')
    .description('Go on with a paused campaign')
    .argument('<campaign>', 'id of the campaign')
    .addHelpText('after', examples)
    .action(async (campaignId: string) => {
      await runResume(io, { campaignId });
    });
}

export async function runResume(io: Io, options: { campaignId: string; limitMs?: number }): Promise<void> {
  await tellCampaign(io, { ...options, wish: 'resume' });
  io.stdout.write(`Campaign ${options.campaignId} goes on. See it: carillon status ${options.campaignId}\n`);
}
