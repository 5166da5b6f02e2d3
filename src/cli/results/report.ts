import { Command } from 'commander';
import { readConfig } from '../../config.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';
import { openExistingLedger, requireCampaign } from '../access/ledger.ts';
import { readReport, reportDimensions, type ReportDimension } from './report-model.ts';
import { renderReport } from './report-text.ts';
import { readNames } from './flags.ts';
import { terminalWidth } from '../terminal/table.ts';

const examples = `
Tables of rows by outcome; of calls by how they ended, by number of the attempt, by the hour of the dial in the recipient's own
time and by time zone; and of conversations by each collected value and each evaluation. Each table of calls tells how many a
person took (those who then asked not to be called again included), their share of the calls that have ended, and the time on
the line where the records have durations.

Examples:
  carillon report reminders
  carillon report reminders --by attempt,hour
  carillon report reminders --json                 all values, for programs`;

export function reportCommand(io: Io): Command {
  return new Command('report')
    .description('Count rows and calls: by outcome, attempt, hour, zone, collected value, evaluation')
    .argument('<campaign>', 'id of the campaign')
    .option('--by <names>', `only these tables, apart by commas: ${reportDimensions.join(', ')}`)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action((campaignId: string, flags: { by?: string; json: boolean }) =>
      runReport(io, { campaignId, by: readNames('--by', flags.by, reportDimensions), json: flags.json }),
    );
}

/** `by` null: all tables. Throws UnknownCampaignError. */
export async function runReport(
  io: Io,
  options: { campaignId: string; by: readonly ReportDimension[] | null; json: boolean },
): Promise<void> {
  const store = await openExistingLedger(readConfig(io.env));
  try {
    const campaign = await requireCampaign(store, options.campaignId);
    const report = await readReport(store, campaign, options.by ?? reportDimensions);
    if (options.json) writeJson(io, report);
    else io.stdout.write(renderReport(campaign, report, terminalWidth(io), io.colour));
  } finally {
    await store.close();
  }
}
