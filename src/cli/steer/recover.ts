import { Command } from 'commander';
import type { Config } from '../../config.ts';
import type { ConvaiClient } from '../../convai/client.ts';
import { factsFromListEntry } from '../../convai/record-facts.ts';
import { hasClosed } from '../../domain/lifecycle.ts';
import { count, plural } from '../../input/figures.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { findUnknownCalls, type ListedCall } from '../../ledger/read/unknown-calls.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { isRunning, requireService, startCampaign } from '../../temporal/start-campaign.ts';
import { connected, withCampaign } from '../../control/control.ts';
import { requireCampaign } from '../../control/ledger.ts';
import { readClock, ServiceUnusableError, withService } from '../../control/service.ts';
import { superviseCampaign } from '../../control/supervision.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { RowProgress } from '../terminal/row-progress.ts';
import { UsageError } from '../../input/usage-error.ts';
import { pauseLines } from '../../words/campaign.ts';

const help = `
For a campaign whose workflow Temporal has lost, while the database was kept. Starts the workflow anew; the ledger says what was sent,
and none of it is sent again. A paused campaign stays paused.

Before, the service's list of conversations is read to its end. If it shows calls that the database does not know, the database was
probably set back, and nothing is started: going on would call those people twice. The same applies if the list cannot be read. A
campaign whose workflow runs, or that has ended, is refused.

Example:
  carillon recover reminders`;

/** Thrown when the service shows calls that the database does not know; nothing was started. */
export class UnknownCallsError extends Error {
  override readonly name = 'UnknownCallsError' as const;
  readonly exitCode = 1;
}

export function recoverCommand(io: Io): Command {
  return new Command('recover')
    .description('Start a campaign anew from the database after Temporal has lost its data')
    .argument('<campaign>', 'id of the campaign')
    .option('--json', 'print JSON', false)
    .addHelpText('after', help)
    .action((campaignId: string, flags: { json: boolean }) => runRecover(io, campaignId, flags));
}

async function runRecover(io: Io, campaignId: string, { json }: { json: boolean }): Promise<void> {
  await withCampaign(io, campaignId, async (open) => {
    const { config, store, campaign } = open;
    refuseUnfit(campaign);
    requireService(config, campaign);
    const session = await connected(open);
    const { client, address } = session.temporal;
    if (await isRunning(client, campaign)) {
      throw new UsageError(
        `Campaign ${campaignId} runs at Temporal (${address}), so there is nothing to recover. carillon status ${campaignId} says why nothing moves.`,
      );
    }
    const now = Math.round((await readClock(config)).now());
    await refuseUnknownCalls(io, config, { store, campaign });
    const started = await startCampaign({ config, store, client, now, recovers: true }, campaignId);
    const recovered = await requireCampaign(store, campaignId);
    const { state, stateReason, round } = recovered;
    const workflowId = started?.round.workflowId ?? null;
    const words = `Campaign ${campaignId} has been started anew from the database, round ${round}.\n`;
    writeAnswer(io, json, { data: { campaignId, state, stateReason, round, workflowId }, words });
    if (json) return;
    const lines = [
      ...pauseLines(recovered),
      ...(await superviseCampaign(session, campaignId)),
      `Show its progress: carillon status ${campaignId}`,
    ];
    io.stderr.write(`${lines.join('\n')}\n`);
  });
}

/** Throws UsageError. */
function refuseUnfit(campaign: Campaign): void {
  const { campaignId: id, state, round } = campaign;
  if (hasClosed(campaign)) {
    throw new UsageError(
      `Campaign ${id} has ended (${state}), so there is nothing to recover. Its results: carillon results ${id}`,
    );
  }
  if (round === 0) {
    throw new UsageError(
      `Campaign ${id} was imported but not started, so there is nothing to recover: carillon start with its file starts it.`,
    );
  }
}

const mostNamed = 5;

/** Throws UnknownCallsError, and ServiceUnusableError where the service's list cannot be read to its end. */
async function refuseUnknownCalls(
  io: Io,
  config: Config,
  { store, campaign }: { store: Store; campaign: Campaign },
): Promise<void> {
  const { agentId, correlation } = campaign.rules;
  const progress = new RowProgress(io, 'read', 'conversations of the service');
  const unknown = await withService(config, async (client) => {
    const pointers = { ...correlation, values: [] };
    async function* listed(): AsyncGenerator<ListedCall> {
      let seen = 0;
      for await (const entry of readWholeList(client, agentId)) {
        progress.update((seen += 1));
        yield factsFromListEntry(entry, pointers);
      }
    }
    return findUnknownCalls(store, campaign, listed());
  }).finally(() => progress.clear());
  if (unknown.length === 0) return;
  const named = unknown.slice(0, mostNamed).join(', ');
  const more = unknown.length > mostNamed ? ` and ${count(unknown.length - mostNamed)} more` : '';
  throw new UnknownCallsError(
    `The service shows ${plural(unknown.length, 'conversation')} of agent ${agentId} since the last request of campaign ${campaign.campaignId} that this database does not account for: ${named}${more}. ` +
      'It was probably set back; going on could call those people twice, so nothing was started. Restore a newer database, or start a new campaign with the rows that were not called (docs/operations.md, "the database has to be restored from a backup").',
  );
}

const pageSize = 100;

/** Entries that cannot be used are in it, too: they may be anybody's. Throws ServiceUnusableError when the end cannot be reached. */
async function* readWholeList(client: ConvaiClient, agentId: string): AsyncGenerator {
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const page = await client.listConversationsPage({ agentId, pageSize, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.conversations;
    yield* page.unusable;
    const next = page.nextCursor;
    const isWhole = page.hasMore === false || (page.hasMore === null && page.conversations.length < pageSize);
    if (next === null && isWhole) return;
    if (next === null || cursors.has(next)) {
      throw new ServiceUnusableError(
        `The service's list of conversations of agent ${agentId} could not be read to its end, so that nobody can tell whether the database is complete. Nothing was started.`,
      );
    }
    cursors.add(next);
    cursor = next;
  }
}
