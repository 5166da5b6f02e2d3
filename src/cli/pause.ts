import { Command } from 'commander';
import { tellCampaign } from './campaign-message.ts';
import type { Io } from './io.ts';

const examples = `
Returns when the pause is committed: no call is placed after it, apart from a batch that was on its way to the service in
that moment. Open calls go on, and their results are still collected.

Example:
  carillon pause reminders`;

export function pauseCommand(io: Io): Command {
  return new Command('pause')
    .description('Place no further calls; open ones are still collected')
    .argument('<campaign>', 'id of the campaign')
    .addHelpText('after', examples)
    .action(async (campaignId: string) => {
      await runPause(io, { campaignId });
    });
}

export async function runPause(io: Io, options: { campaignId: string; limitMs?: number }): Promise<void> {
  await tellCampaign(io, { ...options, wish: 'pause' });
  io.stdout.write(`Campaign ${options.campaignId} is paused. Go on: carillon resume ${options.campaignId}\n`);
}
