import { foreseen } from '../../shared/input/errors.ts';
import type { CallService } from '../../service/port/call-service.ts';
import type { RecordPointers } from '../../rules/conversation-facts.ts';
import { hasClosed } from '../../rules/lifecycle.ts';
import { count, plural } from '../../shared/input/figures.ts';
import { findUnknownBatches, findUnknownCalls, type ListedCall } from '../../ledger/read/unknown-calls.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { isRunning, requireService, startCampaign } from '../../temporal/start-campaign.ts';
import { connected, type Control, WrongStateError } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readClock, ServiceUnusableError, withService } from './service.ts';
import type { Store } from '../../ledger/tx.ts';

/** Thrown when the service shows calls that the database does not know; nothing was started. */
export class UnknownCallsError extends foreseen('UnknownCallsError', false) {}

interface RecoverInput {
  campaignId: string;
  /** Receives the count of batches and conversations read. */
  onProgress?: ((entries: number) => void) | undefined;
}

/**
 * Restarts a campaign's workflow from the database after Temporal has lost it; nothing is sent twice, and a paused campaign stays paused.
 * Workflow null: nothing was left to run. Throws UnknownCampaignError; WrongStateError when it has ended, was not started, or runs;
 * OtherServiceError; UnknownCallsError, since continuing would call recipients twice; ServiceUnusableError when the service's list cannot
 * be read to its end; and as `temporal` and `startCampaign`.
 */
export async function recoverCampaign(
  control: Control,
  { campaignId, onProgress = () => {} }: RecoverInput,
): Promise<{ campaign: Campaign; workflowId: string | null }> {
  const { config, store } = control;
  const campaign = await requireCampaign(store, campaignId);
  refuseUnfit(campaign);
  requireService(config, campaign);
  const { client, address } = (await connected(control)).temporal;
  if (await isRunning(client, campaign)) {
    throw new WrongStateError(
      `Campaign ${campaignId} runs at Temporal (${address}), so there is nothing to recover. carillon status ${campaignId} says why nothing moves.`,
    );
  }
  const now = Math.round((await readClock(config)).now());
  await refuseUnknownCalls(control, campaign, onProgress);
  const started = await startCampaign({ config, store, client, now, recovers: true }, campaignId);
  return { campaign: await requireCampaign(store, campaignId), workflowId: started?.round.workflowId ?? null };
}

/** Throws WrongStateError. */
function refuseUnfit(campaign: Campaign): void {
  const { campaignId: id, state, round } = campaign;
  if (hasClosed(campaign)) {
    throw new WrongStateError(`Campaign ${id} has ended (${state}), so there is nothing to recover. Its results: carillon results ${id}`);
  }
  if (round === 0) {
    throw new WrongStateError(
      `Campaign ${id} was imported but not started, so there is nothing to recover: carillon start with its file starts it.`,
    );
  }
}

const mostNamed = 5;

/** Throws UnknownCallsError, and ServiceUnusableError when the service's lists cannot be read to their end. */
async function refuseUnknownCalls({ config, store }: Control, campaign: Campaign, onProgress: (entries: number) => void): Promise<void> {
  const found = await withService(config, (service) => findUnknown(service, store, campaign, onProgress));
  if (found.calls.length === 0) return;
  const { agentId } = campaign.rules;
  const what =
    found.kind === 'batches'
      ? `${plural(found.calls.length, 'batch', 'batches')} of agent ${agentId} with a mark of this database that are not in it`
      : `${plural(found.calls.length, 'conversation')} of agent ${agentId} since the last request of campaign ${campaign.campaignId} that this database does not account for`;
  const named = found.calls.slice(0, mostNamed).join(', ');
  const more = found.calls.length > mostNamed ? ` and ${count(found.calls.length - mostNamed)} more` : '';
  throw new UnknownCallsError(
    `The service shows ${what}: ${named}${more}. ` +
      'It was probably set back; going on could call those people twice, so nothing was started. Restore a newer database, or start a new campaign with the rows that were not called (docs/operations.md, "the database has to be restored from a backup").',
  );
}

/** What only the service has: batches by name, where it lists them, else conversations. */
export async function findUnknown(
  service: CallService,
  store: Store,
  campaign: Campaign,
  onProgress: (entries: number) => void = () => {},
): Promise<{ kind: 'batches' | 'conversations'; calls: string[] }> {
  const { agentId, correlation } = campaign.rules;
  const pointers = { ...correlation, values: [] };
  let seen = 0;
  async function* counted<Entry>(entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
    for await (const entry of entries) {
      onProgress((seen += 1));
      yield entry;
    }
  }
  const conversations = () => counted(readWholeList(service, agentId, pointers));
  const batches = service.batches?.(agentId);
  if (batches === undefined) return { kind: 'conversations', calls: await findUnknownCalls(store, campaign, conversations()) };
  const ids = new Set<string>();
  const listed = (async function* () {
    for await (const batch of counted(batches)) {
      ids.add(batch.id);
      yield batch;
    }
  })();
  const forgotten = await findUnknownBatches(store, listed);
  if (forgotten.length > 0) return { kind: 'batches', calls: forgotten };
  // A batch deleted there leaves conversations, whose records name their batch.
  const readRecord = async (conversationId: string) => {
    const { facts } = await service.record(conversationId, { agentId, pointers });
    return { ...facts, isElsewhere: facts.batchId === null || ids.has(facts.batchId) };
  };
  return { kind: 'conversations', calls: await findUnknownCalls(store, campaign, conversations(), readRecord) };
}

const pageSize = 100;

/** Includes unusable entries: they may be any recipient's. Throws ServiceUnusableError when the end cannot be reached. */
async function* readWholeList(service: CallService, agentId: string, pointers: RecordPointers): AsyncGenerator<ListedCall> {
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const from = cursor === undefined ? {} : { cursor };
    const page = await service.records({ agentId, pageSize, ...from }, pointers);
    yield* page.records;
    yield* page.unusable;
    const next = page.nextCursor;
    const isWhole = page.hasMore === false || (page.hasMore === null && page.records.length < pageSize);
    if (next === null && isWhole) return;
    if (next === null || cursors.has(next)) {
      throw new ServiceUnusableError(
        `The service's list of conversations of agent ${agentId} could not be read to its end, so it is unknown whether the database is complete. Nothing was started.`,
      );
    }
    cursors.add(next);
    cursor = next;
  }
}
