import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { batchIdOf, campaignQueues, campaignWorkflowId } from '../rules/ids.ts';
import type { campaign as campaignWorkflow } from '../../workflows/campaign.ts';
import type { CampaignInput } from '../../workflows/messages.ts';
import { type Config, ConfigError } from '../shared/config.ts';
import { serviceOf } from '../service/port/address.ts';
import { failureTypes } from '../rules/failure-types.ts';
import { undecidedStates, unsentStates } from '../rules/ledger.ts';
import { isOwnService, isSameService, otherServiceText, type ServiceOf } from '../rules/service-api.ts';
import { findCampaign, lastBatchNumber, reviveCampaign, type Campaign } from '../ledger/rows/campaigns.ts';
import { nextRound, openRound, type Round } from '../ledger/campaign/rounds.ts';
import type { Remedy } from '../ledger/ledger-error.ts';
import type { LedgerOlderError } from '../ledger/ledger-older.ts';
import { findBatch } from '../ledger/reads.ts';
import { loadClient } from './connection.ts';
import { campaignTimeouts } from './timeouts.ts';
import type { Store } from '../ledger/tx.ts';

/** Thrown when a workflow of that name does not run this database's campaign. */
export class WorkflowConflictError extends Error {
  override readonly name = 'WorkflowConflictError' as const;
  readonly isBadInput = false;
}

/** Thrown when Temporal lacks the workflow of a round that has dialled: it lost its data, or is another server. */
export class LostWorkflowError extends Error {
  override readonly name = 'LostWorkflowError' as const;
  readonly isBadInput = false;
  readonly remedy: Remedy;

  constructor(campaignId: string, workflowId: string) {
    super(
      `Temporal does not know the workflow ${workflowId}, although the database says that campaign ${campaignId} has dialled: nothing was started. Check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. If Temporal has lost its data, recover the campaign:`,
    );
    this.remedy = { kind: 'recover', campaignId };
  }
}

/** Thrown when a campaign belongs to another service than the configured one; nothing was done. */
export class OtherServiceError extends Error {
  override readonly name = 'OtherServiceError' as const;
  readonly isBadInput = true;
  /** The service's address at the start; empty: the same service by another API. */
  readonly accountId: string;

  constructor(campaign: Pick<Campaign, 'campaignId' | 'accountId' | 'api'>, own: ServiceOf) {
    super(`${otherServiceText(campaign, own)}.`);
    this.accountId = isSameService(campaign.accountId, own.accountId) ? '' : campaign.accountId;
  }
}

interface StartDependencies {
  config: Config;
  store: Store;
  client: Client;
  now: number;
  /** Allows a dialled round that Temporal does not know: the ledger was compared with the service. */
  recovers?: boolean;
  /** Its steps come before other campaigns'. */
  isUrgent?: boolean;
}

/**
 * Starts the workflow of a campaign's current round, or attaches to it. Idempotent: repeating it recovers from a crash between database and
 * Temporal. Undefined when nothing is left to run. Throws OtherServiceError; WorkflowConflictError when the name belongs to another
 * database's campaign, or to a run that ended without this database; LostWorkflowError; and ConfigError when hooks lack a signing secret.
 */
export async function startCampaign(deps: StartDependencies, campaignId: string): Promise<{ round: Round; attached: boolean } | undefined> {
  const { config, store, client } = deps;
  const campaign = await findCampaign(store.db, campaignId);
  if (campaign !== undefined) {
    requireHookSecret(config, campaignId, campaign.rules);
    requireService(config, campaign);
  }
  await requireStartable(deps, campaignId);
  const round = await openRound(store, campaignId, deps.now);
  if (round === undefined) return undefined;
  const queues = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId);
  const input: CampaignInput = {
    campaignId,
    round: round.round,
    queues,
    timeouts: campaignTimeouts(config),
    submitted: await countSubmitted(store, round),
    callersChecked: false,
  };
  await reviveCampaign(store, { campaignId, now: deps.now });
  try {
    await client.workflow.start<typeof campaignWorkflow>('campaign', {
      taskQueue: queues.campaign,
      workflowId: round.workflowId,
      // An ended round stays ended; after a terminated workflow it may continue, since the ledger knows what was sent.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      workflowIdConflictPolicy: 'FAIL',
      args: [input],
      ...(deps.isUrgent === true ? { priority: { priorityKey: 1 } } : {}),
      staticSummary: `campaign ${campaignId}, round ${round.round}`.slice(0, 200),
    });
    return { round, attached: false };
  } catch (error) {
    if (!(error instanceof (await loadClient()).WorkflowExecutionAlreadyStartedError)) throw error;
    requireOwnRun(await client.workflow.getHandle(round.workflowId).describe(), round, queues.campaign);
    return { round, attached: true };
  }
}

/**
 * Throws WorkflowConflictError when Temporal would refuse a campaign's next round, even before its import, and LostWorkflowError. Changes
 * nothing, so a refused campaign is neither imported nor marked running.
 */
export async function requireStartable(
  { config, store, client, recovers = false }: Omit<StartDependencies, 'now'>,
  campaignId: string,
): Promise<void> {
  const isKnown = (await findCampaign(store.db, campaignId)) !== undefined;
  const round = isKnown ? await nextRound(store.db, campaignId) : 1;
  if (round === undefined) return;
  const next = { campaignId, round, workflowId: campaignWorkflowId(campaignId, round) };
  const last = await describeRun(client, next.workflowId);
  if (last === null) {
    if (recovers || (await lastBatchNumber(store.db, { campaign_id: campaignId, round })) === 0) return;
    throw new LostWorkflowError(campaignId, next.workflowId);
  }
  if (last.status.name === 'FAILED') await requireLedgerCaughtUp(client, store, next);
  else if (last.status.name === 'RUNNING' || last.status.name === 'COMPLETED')
    requireOwnRun(last, next, campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign);
}

/** A batch is planned only after the previous one's verdict, so at most the last needs another submit. */
async function countSubmitted({ db }: Store, { campaignId, round }: Round): Promise<number> {
  const n = await lastBatchNumber(db, { campaign_id: campaignId, round });
  const batch = n === 0 ? undefined : await findBatch(db, batchIdOf(campaignId, round, n));
  return batch !== undefined && undecidedStates.includes(batch.state) ? n - 1 : n;
}

export async function isRunning(client: Client, { campaignId, round }: Campaign): Promise<boolean> {
  return (await describeRun(client, campaignWorkflowId(campaignId, round)))?.status.name === 'RUNNING';
}

/** Also finds one of another database, or one that ended recently. */
export async function hasWorkflow(client: Client, campaignId: string): Promise<boolean> {
  return (await describeRun(client, campaignWorkflowId(campaignId, 1))) !== null;
}

export async function describeRun(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof (await loadClient()).WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Throws OtherServiceError, before another service's clock changes anything. */
export function requireService(config: Config, campaign: Campaign): void {
  const own = serviceOf(config);
  if (!isOwnService(campaign, own)) throw new OtherServiceError(campaign, own);
}

/**
 * A run that failed because the ledger had lost a batch continues only once the ledger has it again: an older one would call those
 * recipients twice.
 */
async function requireLedgerCaughtUp(client: Client, store: Store, round: NamedRound): Promise<void> {
  const lost = await lostBatchOf(client, round.workflowId);
  if (lost === undefined) return;
  const { missing, submitted } = lost;
  // Only the round was missing, and it exists now.
  if (missing === 0) return;
  const batchId = batchIdOf(round.campaignId, round.round, missing ?? 1);
  const found = missing === null ? undefined : await findBatch(store.db, batchId);
  if (found !== undefined && !(submitted && unsentStates.includes(found.state))) return;
  const what = found === undefined ? 'is missing' : 'is still to be sent in it';
  throw new WorkflowConflictError(
    `Campaign ${round.campaignId} has stopped because this database is older than its progress: batch ${missing ?? 1} ${what}. Restore a newer database; going on with this one could call people twice.`,
  );
}

type LostBatch = Pick<LedgerOlderError['lost'], 'missing' | 'submitted'>;

/** The missing batch that made the last run fail; undefined for another end. */
async function lostBatchOf(client: Client, workflowId: string): Promise<LostBatch | undefined> {
  try {
    await client.workflow.getHandle(workflowId).result();
  } catch (error) {
    const { ApplicationFailure, WorkflowFailedError } = await loadClient();
    if (!(error instanceof WorkflowFailedError)) throw error;
    for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
      if (!(cause instanceof ApplicationFailure) || cause.type !== failureTypes.ledgerOlder) continue;
      return (cause.details?.[0] as LostBatch | undefined) ?? { missing: null, submitted: true };
    }
  }
  return undefined;
}

type LastRun = Pick<WorkflowExecutionDescription, 'status' | 'taskQueue'>;
type NamedRound = Omit<Round, 'endedAt'>;

function requireOwnRun({ taskQueue, status }: LastRun, { workflowId, campaignId }: NamedRound, queue: string): void {
  if (taskQueue !== queue) {
    throw new WorkflowConflictError(
      `Temporal already has a workflow ${workflowId}, of a campaign ${campaignId} in another database. Give this campaign another id, or use that database (CARILLON_DB, DATABASE_URL).`,
    );
  }
  if (status.name === 'RUNNING') return;
  throw new WorkflowConflictError(
    `The workflow ${workflowId} has ended (${status.name}) although the database says that its round is still running: was the database set back? Give the campaign a new id, and take out the rows that were called.`,
  );
}

type HookRules = { [Setting in 'preDial' | 'onCompletion' | 'onPause']: { url: string } | null };

/** Throws ConfigError when hooks lack a signing secret. */
export function requireHookSecret(config: Config, campaignId: string, rules: HookRules): void {
  if (config.CARILLON_HOOK_SECRET !== undefined) return;
  const settings = hooksOf(rules).map(({ setting }) => setting);
  if (settings.length === 0) return;
  throw new ConfigError(
    `CARILLON_HOOK_SECRET is not set, and campaign ${campaignId} has ${settings.join(' and ')}, whose requests are signed with it. Set the same secret (16 characters or more) here, for every worker and at the receiver.`,
  );
}

export function hooksOf({ preDial, onCompletion, onPause }: HookRules): { setting: string; url: string }[] {
  const hooks = Object.entries({ pre_dial: preDial, on_completion: onCompletion, on_pause: onPause });
  return hooks.flatMap(([setting, hook]) => (hook === null ? [] : [{ setting, url: hook.url }]));
}
