import { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';
import { withCampaign } from '../../control/control.ts';
import { readReport, reportDimensions } from '../../ledger/read/report.ts';
import { renderReport } from './report-text.ts';
import { readNames } from './flags.ts';
import { terminalWidth } from '../terminal/table.ts';

const examples = `
Prints tables of rows by outcome; of calls by disposition, attempt number, hour, weekday and day of the dial in the recipient's
local time, time zone and caller number; and of conversations by each collected value and evaluation. Each table of calls shows how many were answered by a human
(including those who then opted out), their share of the ended calls, and the time on the line if the records have durations.

Examples:
  carillon report reminders
  carillon report reminders --by attempt,hour
  carillon report reminders --json                 all values as JSON`;

export function reportCommand(io: Io): Command {
  return new Command('report')
    .description('Count rows and calls by outcome, attempt, time, zone, caller, collected value and evaluation')
    .argument('<campaign>', 'id of the campaign')
    .option('--by <names>', `only these comma-separated tables: ${reportDimensions.join(', ')}`)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, { by, json }: { by?: string; json: boolean }) => {
      const dimensions = readNames('--by', by, reportDimensions) ?? reportDimensions;
      await withCampaign(io, campaignId, async ({ store, campaign }) => {
        const report = await readReport(store, campaign, dimensions);
        if (json) writeJson(io, report);
        else io.stdout.write(renderReport(campaign, report, terminalWidth(io), io.colour));
      });
    });
}
