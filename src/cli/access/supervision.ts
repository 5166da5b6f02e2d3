import { WorkflowNotFoundError, type Client, type Connection } from '@temporalio/client';
import { resolve } from 'node:path';
import { campaignQueues } from '../../domain/ids.ts';
import type { Config } from '../../config.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import { findCampaign } from '../../ledger/rows/campaigns.ts';
import { findRound } from '../../ledger/campaign/rounds.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { countWorkers } from '../../temporal/queue-pollers.ts';

export interface SupervisionInput {
  config: Config;
  store: Store;
  temporal: { connection: Connection; client: Client; namespace: string; address: string };
  campaignId: string;
}

/** Thrown when a campaign's workflow has ended without closing the books. */
export class WorkflowEndedError extends Error {
  override readonly name = 'WorkflowEndedError' as const;
  readonly exitCode = 1;
}

const limitMs = 3_000;

/**
 * What stands in a running campaign's way that the database does not know: no worker, no Temporal. Throws WorkflowEndedError when
 * its workflow was ended by hand or failed.
 */
export async function superviseCampaign(input: SupervisionInput): Promise<string[]> {
  const { temporal, store, config, campaignId } = input;
  try {
    await requireRunning(input);
    const { campaign: name } = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId);
    const { namespace, connection } = temporal;
    if ((await countWorkers(connection, { namespace, name, limitMs, now: Date.now() })) > 0) return [];
    return noWorkerLines(config);
  } catch (error) {
    if (error instanceof WorkflowEndedError) throw error;
    return [
      `Temporal at ${temporal.address} gives no answer. Campaign ${campaignId} goes on by itself when it is back; nothing is lost.`,
    ];
  }
}

async function requireRunning({ store, temporal, campaignId }: SupervisionInput): Promise<void> {
  const before = await findCampaign(store.db, campaignId);
  if (before === undefined || hasEnded(before)) return;
  const round = await findRound(store.db, campaignId, before.round);
  if (round === undefined) return;
  const handle = temporal.client.workflow.getHandle(round.workflowId);
  const how = await temporal.connection.withDeadline(Date.now() + limitMs, () =>
    handle.describe().then(
      ({ status }) => status.name,
      (error: unknown) => {
        if (error instanceof WorkflowNotFoundError) return 'NOT FOUND' as const;
        throw error;
      },
    ),
  );
  if (how === 'RUNNING' || how === 'CONTINUED_AS_NEW') return;
  // The books are closed before the workflow ends.
  const after = await findCampaign(store.db, campaignId);
  if (after === undefined || hasEnded(after) || after.round !== before.round) return;
  throw new WorkflowEndedError(
    `The workflow ${round.workflowId} of campaign ${campaignId} is not running (${how}) although the campaign is not at its end. ` +
      'If it was terminated by hand, or the Temporal server is a new one, carillon start with the same file starts it again; ' +
      'if it failed, the worker log says why.',
  );
}

/** What to do when nobody works on the campaigns of this database. */
export function noWorkerLines(config: Config): string[] {
  const place =
    config.DATABASE_URL === undefined ? `CARILLON_DB=${resolve(config.CARILLON_DB)}` : 'the same DATABASE_URL';
  return [
    'No worker is at work on this database, so nothing moves. Start one in another shell: carillon worker',
    `  (with ${place}, and the same TEMPORAL_* and SVC_* variables)`,
  ];
}
