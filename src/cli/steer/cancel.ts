import { Command } from 'commander';
import { tellCampaign, wishAsJson } from '../access/campaign-message.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeJson } from '../terminal/json-output.ts';
import { processInput, type PersonInput } from '../terminal/person-input.ts';

const examples = `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. This cannot
be undone. The command asks for confirmation; without a terminal it needs --yes.

Examples:
  carillon cancel reminders
  carillon cancel reminders --yes`;

export function cancelCommand(io: Io, input: PersonInput = processInput()): Command {
  return new Command('cancel')
    .description('End a campaign; waiting recipients are not called')
    .argument('<campaign>', 'id of the campaign')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, options: { yes: boolean; json: boolean }) => {
      await runCancel(io, input, { campaignId, ...options });
    });
}

async function runCancel(
  io: Io,
  input: PersonInput,
  { campaignId: id, yes, json }: { campaignId: string; yes: boolean; json: boolean },
): Promise<void> {
  const question = `End campaign ${id}? Recipients that wait will not be called, and it cannot be undone.`;
  const confirm = (): Promise<boolean> => mayBegin(io, input, yes, question);
  const campaign = await tellCampaign(io, { campaignId: id, wish: 'cancel', confirm });
  if (campaign === null) return;
  if (json) {
    writeJson(io, wishAsJson(campaign));
    return;
  }
  io.stdout.write(
    `Campaign ${id} is being cancelled: no further dials; calls that are open are still collected. See it: carillon status ${id}\n`,
  );
}
