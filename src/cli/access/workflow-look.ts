import type { Connection, WorkflowHandle } from '@temporalio/client';
import { campaignQueues, campaignWorkflowId } from '../../domain/ids.ts';
import { statusQuery, type CampaignCounters } from '../../../workflows/messages.ts';
import type { Config } from '../../config.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { countWorkers } from '../../temporal/queue-pollers.ts';
import type { Io } from '../terminal/io.ts';
import { openTemporal } from './temporal.ts';

/** What Temporal knows of a campaign that the database does not. */
export interface WorkflowLook {
  /** Why Temporal could not be asked; null: it has answered. */
  unreachable: string | null;
  /** Workers on this database; null: not known. */
  workers: number | null;
  /** False: its workflow was ended by hand, or Temporal has lost it. Null: not known. */
  runs: boolean | null;
  counters: CampaignCounters | null;
  /** A step that failed and is tried again. */
  failing: FailingStep | null;
}

export interface FailingStep {
  activity: string;
  tries: number;
  /** In words that stand in a history: of the kind of failure, without what the service said. */
  message: string;
  /** Real epoch milliseconds; null: it is being tried now. */
  nextAt: number | null;
}

/** A collect that fails keeps nobody from being called, so it is told last. */
const lastOfAll = 'collect';

/** Asks Temporal, for no longer than `limitMs` at each step. Never throws. */
export async function lookAtWorkflow(
  io: Io,
  { config, store, campaign, limitMs }: { config: Config; store: Store; campaign: Campaign; limitMs: number },
): Promise<WorkflowLook> {
  const nothing: WorkflowLook = { unreachable: null, workers: null, runs: null, counters: null, failing: null };
  try {
    const { connection, client, namespace } = await openTemporal(io, config, limitMs);
    try {
      const { campaign: name } = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId);
      const workers = await countWorkers(connection, { namespace, name, limitMs, now: Date.now() }).catch(() => null);
      const handle = client.workflow.getHandle(campaignWorkflowId(campaign.campaignId, campaign.round));
      const described = await describe(connection, handle, limitMs);
      // Without a worker nobody answers.
      const counters = workers === 0 ? null : await queryCounters(connection, handle, limitMs);
      return { ...nothing, ...described, workers, counters };
    } finally {
      await connection.close();
    }
  } catch (error) {
    return { ...nothing, unreachable: error instanceof Error ? error.message : String(error) };
  }
}

async function queryCounters(
  connection: Connection,
  handle: WorkflowHandle,
  limitMs: number,
): Promise<CampaignCounters | null> {
  return connection.withAbortSignal(AbortSignal.timeout(limitMs), () => handle.query(statusQuery)).catch(() => null);
}

async function describe(
  connection: Connection,
  handle: WorkflowHandle,
  limitMs: number,
): Promise<Pick<WorkflowLook, 'runs' | 'failing'>> {
  try {
    const { status, raw } = await connection.withDeadline(Date.now() + limitMs, () => handle.describe());
    const steps = (raw.pendingActivities ?? []).flatMap((step) => {
      const message = step.lastFailure?.message;
      if (message == null) return [];
      const at = step.scheduledTime?.seconds == null ? null : step.scheduledTime.seconds.toNumber() * 1000;
      const nextAt = at !== null && at > Date.now() ? at : null;
      return [{ activity: step.activityType?.name ?? '', tries: step.attempt ?? 1, message, nextAt }];
    });
    const failing = steps.find(({ activity }) => activity !== lastOfAll) ?? steps[0] ?? null;
    return { runs: status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW', failing };
  } catch (error) {
    return { runs: error instanceof Error && error.name === 'WorkflowNotFoundError' ? false : null, failing: null };
  }
}
