import { Command } from 'commander';
import { readConfig } from '../../config.ts';
import {
  refuseUnlessRetriable,
  retriableOutcomes,
  retryEnded,
  type RetriableOutcome,
} from '../../ledger/people/retry-ended.ts';
import { requireService, startCampaign } from '../../temporal/start-campaign.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { openExistingLedger, requireCampaign } from '../access/ledger.ts';
import { processInput, type PersonInput } from '../terminal/person-input.ts';
import { plural } from '../../input/figures.ts';
import { readClock } from '../access/service.ts';
import { openTemporal, type TemporalAccess } from '../access/temporal.ts';
import { UsageError } from '../terminal/usage-error.ts';

const examples = `
Starts the next round of an ended campaign with these rows, under the rules the campaign was started with. Each row gets a new
attempt budget and keeps its history; attempt numbers continue, and frequency caps still count every call.

  exhausted    all attempts were used
  expired      the campaign ended before an attempt
  cancelled    the campaign was cancelled before an attempt
  undialable   no open window, no known time zone, or an invalid number; useful once something has changed
  unresolved   it is unknown whether they were called; they may be called twice

Examples:
  carillon retry reminders --outcome exhausted
  carillon retry reminders --outcome exhausted,cancelled --yes`;

export interface RetryFlags {
  outcome: string;
  yes: boolean;
  json: boolean;
}

export function retryCommand(io: Io, input: PersonInput = processInput()): Command {
  return new Command('retry')
    .description('Call rows of an ended campaign again in a new round')
    .argument('<campaign>', 'id of the campaign')
    .requiredOption('--outcome <outcomes>', `comma-separated outcomes: ${retriableOutcomes.join(', ')}`)
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action((campaignId: string, flags: RetryFlags) => runRetry(io, input, campaignId, flags));
}

async function runRetry(io: Io, input: PersonInput, campaignId: string, flags: RetryFlags): Promise<void> {
  const outcomes = readOutcomes(flags.outcome);
  const config = readConfig(io.env);
  const store = await openExistingLedger(config);
  let temporal: TemporalAccess | null = null;
  try {
    const campaign = await requireCampaign(store, campaignId);
    requireService(config, campaign);
    refuseUnlessRetriable(campaign);
    const risk = outcomes.includes('unresolved')
      ? ' Unresolved rows may have been called already: they are then called twice.'
      : '';
    const question = `Call the rows of ${campaignId} again that are ${outcomes.join(' or ')}?${risk}`;
    if (!(await mayBegin(io, input, flags.yes, question))) return;
    // Connected before the decision is written, so that what it sets going can go.
    temporal = await openTemporal(io, config);
    const now = Math.round((await readClock(config)).now());
    const rows = await retryEnded(store, campaignId, outcomes, now);
    const started = await startCampaign({ config, store, client: temporal.client, now }, campaignId);
    if (flags.json) {
      writeJson(io, { campaignId, rows, round: started?.round.round ?? null });
      return;
    }
    if (started === undefined) {
      io.stdout.write(`No row of campaign ${campaignId} is ${outcomes.join(' or ')}; nothing was started.\n`);
      return;
    }
    const round = `Round ${started.round.round} has been started: carillon status ${campaignId}`;
    io.stdout.write(`${plural(rows, 'row')} of campaign ${campaignId} will be called again. ${round}\n`);
  } finally {
    await temporal?.connection.close();
    await store.close();
  }
}

function readOutcomes(text: string): RetriableOutcome[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const known = names.filter((name): name is RetriableOutcome =>
    (retriableOutcomes as readonly string[]).includes(name),
  );
  const unknown = names.find((name) => !(known as string[]).includes(name));
  if (unknown === undefined) return known;
  const never = ['completed', 'opted_out', 'suppressed', 'rejected'].includes(unknown)
    ? `rows that are ${unknown} are never called again by a retry`
    : 'there is no such outcome';
  throw new UsageError(
    `--outcome names ${JSON.stringify(unknown)}: ${never}. It may be ${retriableOutcomes.join(', ')}.`,
  );
}
