import { Option } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { requireRetriable } from '../../../operations/control/rows.ts';
import { plural } from '../../../shared/input/figures.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { outcomeOf, retriableOutcomes, type RetriableOutcome } from '../../../rules/outcome.ts';
import { mayBegin } from '../terminal/answer.ts';
import { commandOf } from '../terminal/command.ts';
import { editOperations as operations } from '../../../operations/edits.ts';
import { performHere } from '../../../operations/runs/command-line.ts';

const help = `
Starts the next round of an ended campaign with these rows, under the rules the campaign was started with. Each row gets a new
attempt budget and keeps its history; attempt numbers continue, and frequency caps still count every call.

${retriableOutcomes.map((outcome) => `  ${outcome.padEnd(13)}${outcomeOf[outcome].retry}`).join('\n')}`;

export const retryCommand = commandOf<{ outcome: string }>({
  name: 'retry',
  argument: ['<campaign>', 'id of the campaign'],
  flags: [new Option('--outcome <outcomes>', `comma-separated outcomes: ${retriableOutcomes.join(', ')}`).makeOptionMandatory()],
  asks: true,
  changes: true,
  help,
  examples: ['carillon retry reminders --outcome exhausted', 'carillon retry reminders --outcome exhausted,cancelled --yes'],
  run: async (io, { outcome, yes, key }, campaignId) => {
    const outcomes = readOutcomes(outcome);
    return withControl(io, async (control) => {
      if (!yes) await requireRetriable(control, campaignId);
      const risk = outcomes.includes('unresolved') ? ` ${operations.retryRows.more}` : '';
      const named = outcomes.join(' or ');
      if (!(await mayBegin(io, yes, `Call the rows of ${campaignId} again that are ${named}?${risk}`))) return null;
      const { rows, round } = await performHere(control, 'retryRows', { params: { campaign: campaignId }, body: { outcomes }, key });
      const words =
        round === null
          ? `No row of campaign ${campaignId} is ${named}; nothing was started.`
          : `${plural(rows, 'row')} of campaign ${campaignId} will be called again. Round ${round} has been started: carillon status ${campaignId}`;
      return { data: { campaignId, rows, round }, words: `${words}\n` };
    });
  },
});

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
