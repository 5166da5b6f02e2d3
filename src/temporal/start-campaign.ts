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

/** Thrown when Temporal has a workflow of that name that does not run this database's campaign. */
export class WorkflowConflictError extends Error {
  override readonly name = 'WorkflowConflictError' as const;
  readonly isBadInput = false;
}

/** Thrown when Temporal does not know the workflow of a round that has dialled: it has lost its data, or is another server. */
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

/** Thrown when a campaign was started against another service than the one of the settings; nothing was done. */
export class OtherServiceError extends Error {
  override readonly name = 'OtherServiceError' as const;
  readonly isBadInput = true;
  /** Address of the service that it was started against; empty: it is the same, asked by another API. */
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
  /** A round that has dialled may be started although Temporal does not know its workflow: the ledger was compared with the service. */
  recovers?: boolean;
  /** Its steps are taken before those of other campaigns that wait for a worker. */
  isUrgent?: boolean;
}

/**
 * Starts the workflow of the round that a campaign is to run now, or attaches to the one that runs. Idempotent: a crash between the
 * database and Temporal is mended by running it again. Answers undefined when nothing is left to run. Throws OtherServiceError;
 * WorkflowConflictError when the name is taken by another database's campaign, or by a run that ended without this database;
 * LostWorkflowError; and ConfigError when the campaign has hooks and there is no secret to sign with.
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
      // A round that has ended stays ended; one whose workflow was terminated by hand may go on: the ledger knows what was sent.
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
 * Throws WorkflowConflictError when Temporal would refuse the next round of a campaign, whether the database has the campaign yet or
 * not, and LostWorkflowError. Changes nothing: what is refused is neither imported nor called running.
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

/** Batches whose submit is over, which a new run need not enter again: before one is planned, the one before it has its verdict. */
async function countSubmitted({ db }: Store, { campaignId, round }: Round): Promise<number> {
  const n = await lastBatchNumber(db, { campaign_id: campaignId, round });
  const batch = n === 0 ? undefined : await findBatch(db, batchIdOf(campaignId, round, n));
  return batch !== undefined && undecidedStates.includes(batch.state) ? n - 1 : n;
}

export async function isRunning(client: Client, { campaignId, round }: Campaign): Promise<boolean> {
  return (await describeRun(client, campaignWorkflowId(campaignId, round)))?.status.name === 'RUNNING';
}

/** Whether Temporal has, or lately had, a workflow under this id, of whichever database. */
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

/** Throws OtherServiceError, before anything is changed by the clock of a service that is not the campaign's. */
export function requireService(config: Config, campaign: Campaign): void {
  const own = serviceOf(config);
  if (!isOwnService(campaign, own)) throw new OtherServiceError(campaign, own);
}

/**
 * A run that failed because the ledger had lost a batch may go on only once the ledger has it again: started on the older
 * one, it would call those people a second time.
 */
async function requireLedgerCaughtUp(client: Client, store: Store, round: NamedRound): Promise<void> {
  const lost = await lostBatchOf(client, round.workflowId);
  if (lost === undefined) return;
  const { missing, submitted } = lost;
  // It was the round that was missing, and it is this one.
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

/** The batch whose absence ended the last run of a workflow, which has failed; undefined when it did not end so. */
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

/** Throws ConfigError when the campaign has hooks and nothing to sign their requests with is set. */
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
