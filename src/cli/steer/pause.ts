import { Command } from 'commander';
import { readConfig } from '../../config.ts';
import { pausedByPerson } from '../../domain/lifecycle.ts';
import { pauseCampaign } from '../../ledger/rows/campaigns.ts';
import { refuseUnfit, sendUpdate, wishAsJson } from '../access/campaign-message.ts';
import { stateText } from '../words/campaign.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';
import { openExistingLedger, requireCampaign } from '../access/ledger.ts';
import { readClockOrReal } from '../access/service.ts';
import { openTemporal } from '../access/temporal.ts';
import { UsageError } from '../terminal/usage-error.ts';

const examples = `
Returns when the pause is committed. No call is placed after that, except a batch that was on its way to the service at that
moment. Open calls continue, and their results are collected. Needs only the database; Temporal, worker and service may be down.

Example:
  carillon pause reminders`;

export function pauseCommand(io: Io): Command {
  return new Command('pause')
    .description('Place no further calls; open ones are still collected')
    .argument('<campaign>', 'id of the campaign')
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, { json }: { json: boolean }) => {
      await runPause(io, { campaignId, json });
    });
}

/** The service is asked for its clock alone, Temporal told for good order: nobody waits long for either. */
const limitMs = 3_000;

/** Pauses in the database, which every dial transaction reads. Throws UsageError, and what the database throws. */
export async function runPause(
  io: Io,
  { campaignId, json = false }: { campaignId: string; json?: boolean },
): Promise<void> {
  const config = readConfig(io.env);
  const store = await openExistingLedger(config);
  try {
    const campaign = await requireCampaign(store, campaignId);
    refuseUnfit(campaign, 'pause');
    const clock = await readClockOrReal(config, limitMs, () => io.now());
    if (!(await pauseCampaign(store, campaignId, pausedByPerson, Math.round(clock.now()))))
      throw new UsageError(`Campaign ${campaignId} is ${stateText(campaign)}; nothing was changed.`);
    if (json) writeJson(io, wishAsJson(await requireCampaign(store, campaignId)));
    else io.stdout.write(`Campaign ${campaignId} is paused. Go on: carillon resume ${campaignId}\n`);
    try {
      const temporal = await openTemporal(io, config, limitMs);
      try {
        // Not to pause: a pause that waits for a worker would undo a later resume.
        await sendUpdate(config, temporal, { campaign, wish: 'look', ledgerId: store.ledgerId, limitMs });
      } finally {
        await temporal.connection.close();
      }
    } catch {
      io.stderr.write(
        'Its workflow could not be told (carillon status says more): the database has the pause, and that is what counts.\n',
      );
    }
  } finally {
    await store.close();
  }
}
