import { foreseen } from '../../shared/input/errors.ts';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { resolve } from 'node:path';
import type { CampaignCounters } from '../../../workflows/messages.ts';
import type { Config } from '../../shared/config.ts';
import { campaignQueues, campaignWorkflowId } from '../../rules/ids.ts';
import { hasClosed, hasEnded } from '../../rules/lifecycle.ts';
import { findCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { countWorkers } from '../../temporal/connection.ts';
import { describeRun } from '../../temporal/start-campaign.ts';
import type { FailingStep, WorkflowStatus } from '../../presentation/words/why.ts';
import { accountIdOf, readClock, ServiceUnusableError } from './service.ts';
import { connected, type Control, type OpenCampaign, type Session } from './control.ts';

/** Thrown when a workflow has ended without closing its round. */
export class WorkflowEndedError extends foreseen('WorkflowEndedError', false) {}

const limitMs = 3_000;

/** Reports a missing worker or Temporal. Throws WorkflowEndedError when the workflow was terminated or failed. */
export async function superviseCampaign(session: Session, campaignId: string): Promise<string[]> {
  try {
    await requireRunning(session, campaignId);
    return await describeMissingWorker(session);
  } catch (error) {
    if (error instanceof WorkflowEndedError) throw error;
    return [
      `Temporal at ${session.temporal.address} does not answer. Campaign ${campaignId} continues by itself when it is back; nothing is lost.`,
    ];
  }
}

async function requireRunning(session: Session, campaignId: string): Promise<void> {
  const { db } = session.store;
  const before = await findCampaign(db, campaignId);
  if (before === undefined || hasEnded(before) || before.round === 0) return;
  const workflow = await describeWorkflow(session, before, limitMs);
  if (isRunning(workflow)) return;
  // The round closes before its workflow ends.
  const after = await findCampaign(db, campaignId);
  if (after === undefined || hasEnded(after) || after.round !== before.round) return;
  const workflowId = campaignWorkflowId(campaignId, before.round);
  throw new WorkflowEndedError(
    `The workflow ${workflowId} of campaign ${campaignId} is not running (${workflow?.status.name ?? 'NOT FOUND'}) although the campaign is not at its end. ` +
      `If it was terminated by hand, or Temporal has lost its data, carillon recover ${campaignId} restarts it; ` +
      'if it failed, the worker log says why.',
  );
}

/** Null when the round has no workflow. */
function describeWorkflow({ temporal: { client, connection } }: Session, { campaignId, round }: Campaign, withinMs: number) {
  return connection.withDeadline(Date.now() + withinMs, () => describeRun(client, campaignWorkflowId(campaignId, round)));
}

function isRunning(workflow: WorkflowExecutionDescription | null): boolean {
  return workflow !== null && ['RUNNING', 'CONTINUED_AS_NEW'].includes(workflow.status.name);
}

/** Recent pollers of this database's queue. */
async function countOwnWorkers({ config, store, temporal }: Session, withinMs: number): Promise<number> {
  const { namespace, connection } = temporal;
  const { campaign: name } = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId);
  return countWorkers(connection, { namespace, name, limitMs: withinMs, now: Date.now() });
}

/** Empty when a worker serves this database. */
export async function describeMissingWorker(session: Session): Promise<string[]> {
  return (await countOwnWorkers(session, limitMs)) > 0 ? [] : noWorkerLines(session.config);
}

export function noWorkerLines(config: Config): string[] {
  const place = config.DATABASE_URL === undefined ? `CARILLON_DB=${resolve(config.CARILLON_DB)}` : 'the same DATABASE_URL';
  return [
    'No worker is running for this database; campaigns are not progressing. Start one in another shell: carillon worker',
    `  (with ${place}, and the same TEMPORAL_* and SVC_* variables)`,
  ];
}

/** Limit of each request to Temporal. */
const askMs = 2_000;
/** Kept short, so that a newly started worker shows at once. */
const maxStatusAgeMs = 1_000;

/** State in Temporal and the service, by campaign id: one request for all, none for closed ones. Never throws. */
export async function readWorkflowStatuses(control: Control, campaigns: readonly Campaign[]): Promise<ReadonlyMap<string, WorkflowStatus>> {
  const openCampaigns = campaigns.filter((campaign) => !hasClosed(campaign) && campaign.round > 0);
  if (openCampaigns.length === 0) return new Map();
  const unknown = { unreachable: null, workers: null, runs: null, failing: null };
  const [silent, readStatus] = await Promise.all([
    findServiceFault(control.config),
    openStatusReader(control).catch((error: unknown) => {
      const unreachable = error instanceof Error ? error.message : String(error);
      return async () => ({ ...unknown, unreachable });
    }),
  ]);
  return new Map(
    await Promise.all(
      openCampaigns.map(async (campaign): Promise<[string, WorkflowStatus]> => {
        const service = silent?.accountId === campaign.accountId ? silent.fault : null;
        return [campaign.campaignId, { ...(await readStatus(campaign)), service }];
      }),
    ),
  );
}

/** Counts workers once for all campaigns it reads. Throws when Temporal does not answer. */
async function openStatusReader(control: Control): Promise<(campaign: Campaign) => Promise<Omit<WorkflowStatus, 'service'>>> {
  const session = await connected(control, askMs);
  const counted = countOwnWorkers(session, askMs).catch(() => null);
  return async (campaign) => {
    const workflow = await describeWorkflow(session, campaign, askMs).catch(() => undefined);
    const runs = workflow === undefined ? null : isRunning(workflow);
    return {
      unreachable: null,
      workers: await counted,
      runs,
      failing: workflow == null ? null : findFailing(workflow),
    };
  };
}

/** Why the service does not answer, and the account it halts; null: it answers. */
async function findServiceFault(config: Config): Promise<{ accountId: string; fault: string } | null> {
  try {
    await readClock(config, askMs);
    return null;
  } catch (error) {
    return error instanceof ServiceUnusableError ? { accountId: accountIdOf(config), fault: error.message } : null;
  }
}

/** Shared among concurrent callers; null: the campaign is over. */
export async function readWorkflowStatus({ campaign, ...control }: OpenCampaign): Promise<WorkflowStatus | null> {
  const { campaignId } = campaign;
  if (hasEnded(campaign)) return null;
  const read = () => readWorkflowStatuses(control, [campaign]);
  const statuses = await control.cache.read(`look ${campaignId}`, read, maxStatusAgeMs);
  return statuses.get(campaignId) ?? null;
}

/** Null without an answer. */
export async function askWorkflow(open: OpenCampaign, status: WorkflowStatus | null): Promise<CampaignCounters | null> {
  if (status === null || status.unreachable !== null || status.workers === 0) return null;
  const { campaignId, round } = open.campaign;
  try {
    const { client, connection } = await open.temporal(askMs);
    const { statusQuery } = await import('../../../workflows/messages.ts');
    const handle = client.workflow.getHandle(campaignWorkflowId(campaignId, round));
    return await connection.withAbortSignal(AbortSignal.timeout(askMs), () => handle.query(statusQuery));
  } catch {
    return null;
  }
}

/** Shown last: a failing collect stops no calls. */
const lastOfAll = 'collect';

function findFailing({ raw }: WorkflowExecutionDescription): FailingStep | null {
  const steps = (raw.pendingActivities ?? []).flatMap((step) => {
    const message = step.lastFailure?.message;
    if (message == null) return [];
    const at = step.scheduledTime?.seconds == null ? null : step.scheduledTime.seconds.toNumber() * 1000;
    const nextAt = at !== null && at > Date.now() ? at : null;
    return [{ activity: step.activityType?.name ?? '', tries: step.attempt ?? 1, message, nextAt }];
  });
  return steps.find(({ activity }) => activity !== lastOfAll) ?? steps[0] ?? null;
}
