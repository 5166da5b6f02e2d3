import { foreseen } from '../../shared/input/errors.ts';
import { campaignQueues, campaignWorkflowId } from '../../rules/ids.ts';
import { hasEnded } from '../../rules/lifecycle.ts';
import { findCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { loadClient } from '../../temporal/connection.ts';
import { connected, type Control, WrongStateError, type Session } from './control.ts';
import { noWorkerLines } from './supervision.ts';

export type SteeringCommand = 'pause' | 'resume' | 'drain' | 'cancel';

/** Thrown when a command did not reach a campaign, or had no effect. */
export class CampaignMessageError extends foreseen('CampaignMessageError', false) {}

const loadMessages = () => import('../../../workflows/messages.ts');
const answerLimitMs = 20_000;
const connectLimitMs = 5_000;
const grpcDeadlineExceeded = 4;
const unchanged = 'nothing was changed.';

/** Throws WrongStateError. */
export function refuseUnfit(campaign: Campaign, command: SteeringCommand): void {
  const { campaignId: id } = campaign;
  if (campaign.state === 'failed')
    throw new WrongStateError(`Campaign ${id} has failed, so there is nothing to ${command}.`, {
      kind: 'fix_failure',
      campaignId: id,
    });
  if (hasEnded(campaign)) {
    throw new WrongStateError(
      `Campaign ${id} has ended (${campaign.state}), so there is nothing to ${command}. Its results: carillon results ${id}`,
    );
  }
  if (campaign.round === 0) {
    throw new WrongStateError(
      `Campaign ${id} was imported but not started, so there is nothing to ${command}: carillon start with its file starts it.`,
    );
  }
}

/** Why a workflow was not notified of a committed change, which it sees at its next plan; null: it was. */
export type NotifyFailure = string | null;

/** Makes a running campaign replan after a change; any other sees it when it resumes. */
export async function requestReplan(control: Control, campaignId: string): Promise<NotifyFailure> {
  const campaign = await findCampaign(control.store.db, campaignId);
  if (campaign?.state !== 'running') return null;
  return tryNotify(async () => sendUpdate(await connected(control, connectLimitMs), { campaign, wish: 'look' }));
}

/** Like `requestReplan`, for added rows: Temporal keeps the signal until a worker is there. */
export async function notifyOfRows(control: Control, campaignId: string): Promise<NotifyFailure> {
  const campaign = await findCampaign(control.store.db, campaignId);
  if (campaign?.state !== 'running') return null;
  return tryNotify(async () => {
    const { client, connection } = (await connected(control, connectLimitMs)).temporal;
    const handle = client.workflow.getHandle(campaignWorkflowId(campaignId, campaign.round));
    const { rowsAddedSignal } = await loadMessages();
    await connection.withDeadline(Date.now() + connectLimitMs, () => handle.signal(rowsAddedSignal));
  });
}

/** Null when the message arrived, else why not: the committed change does not fail with it. */
export async function tryNotify(send: () => Promise<unknown>): Promise<NotifyFailure> {
  try {
    await send();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface UpdateInput {
  campaign: Campaign;
  wish: SteeringCommand | 'look';
  /** For a resume: `countOwnPauses` at the time of the request. */
  pausesSeen?: number;
  sample?: boolean;
  limitMs?: number;
}

/** Sends an update to a campaign's workflow; repeatable. False when the campaign's state did not allow it. */
export async function sendUpdate(
  { config, store, temporal: { client, connection, address } }: Session,
  { campaign, wish: command, pausesSeen, sample = false, limitMs = answerLimitMs }: UpdateInput,
): Promise<boolean> {
  const { campaignId: id } = campaign;
  const { pauseUpdate: pause, resumeUpdate: resume, drainUpdate: drain, cancelUpdate: cancel, ...messages } = await loadMessages();
  const updates = { pause, resume, drain, cancel, look: messages.lookAgainUpdate };
  const { WorkflowNotFoundError, WorkflowUpdateFailedError, ...sdk } = await loadClient();
  const handle = client.workflow.getHandle(campaignWorkflowId(id, campaign.round));
  try {
    return await connection.withDeadline(Date.now() + limitMs, async () => {
      // The name may be another database's campaign.
      const { taskQueue } = await handle.describe();
      if (taskQueue !== campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign) {
        throw new CampaignMessageError(`Temporal at ${address} runs a campaign ${id} of another database, not this one: ${unchanged}`);
      }
      if (command !== 'resume' || pausesSeen === undefined) return handle.executeUpdate(updates[command]);
      return handle.executeUpdate(messages.knownResumeUpdate, { args: [{ pausesSeen, ...(sample && { sample }) }] });
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw new CampaignMessageError(
        `Temporal at ${address} does not run campaign ${id}: ${unchanged} carillon recover ${id} restarts it; then repeat this.`,
        { cause: error },
      );
    }
    if (error instanceof WorkflowUpdateFailedError) {
      throw new CampaignMessageError(`Campaign ${id} has ended; ${unchanged} carillon status ${id} shows it.`, {
        cause: error,
      });
    }
    // The SDK may wrap the gRPC error.
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const isLate = sdk.isGrpcServiceError(cause) && (cause.code as number) === grpcDeadlineExceeded;
    if (isLate || error instanceof sdk.WorkflowUpdateRPCTimeoutOrCancelledError) {
      throw new CampaignMessageError(
        [
          `No worker answered for campaign ${id} within ${limitMs / 1000} s. Without a worker no call is placed; it is not known whether the campaign will ${command} when one starts.`,
          ...noWorkerLines(config),
          `Then repeat this command; repeating it is harmless.`,
        ].join('\n'),
        { cause: error },
      );
    }
    throw error;
  }
}
