import { Command } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { requireRetriable, retryRows } from '../../../operations/control/rows.ts';
import { plural } from '../../../shared/input/figures.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { retriableOutcomes, type RetriableOutcome } from '../../../ledger/people/retry-ended.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin, writeJson } from '../terminal/answer.ts';
import { retryMeanings } from '../../../operations/runs/rows.ts';
import { operations } from '../../../operations/list.ts';

const examples = `
Starts the next round of an ended campaign with these rows, under the rules the campaign was started with. Each row gets a new
attempt budget and keeps its history; attempt numbers continue, and frequency caps still count every call.

${Object.entries(retryMeanings)
  .map(([outcome, means]) => `  ${outcome.padEnd(13)}${means}`)
  .join('\n')}

Examples:
  carillon retry reminders --outcome exhausted
  carillon retry reminders --outcome exhausted,cancelled --yes`;

interface RetryFlags {
  outcome: string;
  yes: boolean;
  json: boolean;
}

export function retryCommand(io: Io): Command {
  return new Command('retry')
    .argument('<campaign>', 'id of the campaign')
    .requiredOption('--outcome <outcomes>', `comma-separated outcomes: ${retriableOutcomes.join(', ')}`)
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action((campaignId: string, flags: RetryFlags) => runRetry(io, campaignId, flags));
}

async function runRetry(io: Io, campaignId: string, flags: RetryFlags): Promise<void> {
  const outcomes = readOutcomes(flags.outcome);
  await withControl(io, async (control) => {
    await requireRetriable(control, campaignId);
    const risk = outcomes.includes('unresolved') ? ` ${operations.retryRows.more}` : '';
    const question = `Call the rows of ${campaignId} again that are ${outcomes.join(' or ')}?${risk}`;
    if (!(await mayBegin(io, flags.yes, question))) return;
    const { rows, round } = await retryRows(control, { campaignId, outcomes });
    if (flags.json) writeJson(io, { campaignId, rows, round });
    else if (round === null) io.stdout.write(`No row of campaign ${campaignId} is ${outcomes.join(' or ')}; nothing was started.\n`);
    else
      io.stdout.write(
        `${plural(rows, 'row')} of campaign ${campaignId} will be called again. Round ${round} has been started: carillon status ${campaignId}\n`,
      );
  });
}

function readOutcomes(text: string): RetriableOutcome[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.map((name) => {
    const known = retriableOutcomes.find((outcome) => outcome === name);
    if (known !== undefined) return known;
    const never = ['completed', 'opted_out', 'suppressed', 'rejected'].includes(name)
      ? `rows that are ${name} are never called again by a retry`
      : 'there is no such outcome';
    throw new UsageError(`--outcome names ${JSON.stringify(name)}: ${never}. It may be ${retriableOutcomes.join(', ')}.`);
  });
}
