import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { campaignQueues, campaignWorkflowId } from '../../domain/ids.ts';
import {
  cancelUpdate,
  drainUpdate,
  knownResumeUpdate,
  lookAgainUpdate,
  pauseUpdate,
  resumeUpdate,
} from '../../../workflows/messages.ts';
import { readConfig, type Config } from '../../config.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import { findCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { howToMend } from '../../ledger/people/edit-refusal.ts';
import { stateText } from '../words/campaign.ts';
import type { Io } from '../terminal/io.ts';
import { countOwnPauses } from '../../ledger/wishes.ts';
import { openExistingLedger, requireCampaign } from './ledger.ts';
import { noWorkerLines } from './supervision.ts';
import { openTemporal, type TemporalAccess } from './temporal.ts';
import { UsageError } from '../terminal/usage-error.ts';

export type Wish = 'pause' | 'resume' | 'drain' | 'cancel';

/** Thrown when a campaign could not be told what to do; says what is known. */
export class CampaignMessageError extends Error {
  override readonly name = 'CampaignMessageError' as const;
  readonly exitCode = 1;
}

const updates = {
  pause: pauseUpdate,
  resume: resumeUpdate,
  drain: drainUpdate,
  cancel: cancelUpdate,
  look: lookAgainUpdate,
};
const answerLimitMs = 20_000;
const grpcDeadlineExceeded = 4;

/** Tells a running campaign to pause, go on or end; returns its state after the change was committed to the database. */
export async function tellCampaign(
  io: Io,
  input: { campaignId: string; wish: Wish; confirm?: () => Promise<boolean>; limitMs?: number },
): Promise<Campaign | null> {
  const config = readConfig(io.env);
  const store = await openExistingLedger(config);
  try {
    const campaign = await requireCampaign(store, input.campaignId);
    refuseUnfit(campaign, input.wish);
    const pausesSeen = await countOwnPauses(store.db, input.campaignId);
    if (input.confirm !== undefined && !(await input.confirm())) return null;
    const temporal = await openTemporal(io, config);
    try {
      const changed = await sendUpdate(config, temporal, {
        campaign,
        wish: input.wish,
        pausesSeen,
        ledgerId: store.ledgerId,
        limitMs: input.limitMs ?? answerLimitMs,
      });
      const after = (await findCampaign(store.db, input.campaignId)) ?? campaign;
      if (!changed) throw new CampaignMessageError(`Campaign ${input.campaignId} is ${stateText(after)}; ${unchanged}`);
      return after;
    } finally {
      await temporal.connection.close();
    }
  } finally {
    await store.close();
  }
}

/** What a wish has made of a campaign, for programs. */
export function wishAsJson({ campaignId, state, stateReason, round }: Campaign): Record<string, unknown> {
  return { campaignId, state, stateReason, round };
}

const unchanged = 'nothing was changed.';

/** Throws UsageError. */
export function refuseUnfit(campaign: Campaign, wish: Wish): void {
  const { campaignId: id } = campaign;
  if (campaign.state === 'failed')
    throw new UsageError(`Campaign ${id} has failed, so there is nothing to ${wish}: ${howToMend(id)}.`);
  if (hasEnded(campaign)) {
    throw new UsageError(
      `Campaign ${id} has ended (${campaign.state}), so there is nothing to ${wish}. Its results: carillon results ${id}`,
    );
  }
  if (campaign.round === 0) {
    throw new UsageError(
      `Campaign ${id} was imported but not started, so there is nothing to ${wish}: carillon start with its file starts it.`,
    );
  }
}

interface UpdateInput {
  campaign: Campaign;
  wish: Wish | 'look';
  /** For a resume: `countOwnPauses` when the person wished it. */
  pausesSeen?: number;
  ledgerId: string;
  limitMs: number;
}

/** Sends the update to a campaign's workflow; repeating it is harmless. Answers whether the campaign's state allowed it. */
export async function sendUpdate(
  config: Config,
  { client, connection, address }: TemporalAccess,
  { campaign, wish, pausesSeen, ledgerId, limitMs }: UpdateInput,
): Promise<boolean> {
  const { campaignId: id } = campaign;
  const handle = client.workflow.getHandle(campaignWorkflowId(id, campaign.round));
  try {
    return await connection.withDeadline(Date.now() + limitMs, async () => {
      // The name alone may be that of another database's campaign, which is not ours to stop.
      const { taskQueue } = await handle.describe();
      if (taskQueue !== campaignQueues(config.CARILLON_QUEUE_PREFIX, ledgerId).campaign) {
        throw new CampaignMessageError(
          `Temporal at ${address} runs a campaign ${id} of another database, not this one: ${unchanged}`,
        );
      }
      if (wish !== 'resume' || pausesSeen === undefined) return handle.executeUpdate(updates[wish]);
      return handle.executeUpdate(knownResumeUpdate, { args: [{ pausesSeen }] });
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw new CampaignMessageError(
        `Temporal at ${address} does not run campaign ${id}: ${unchanged} carillon start with its file starts it again; then repeat this.`,
        { cause: error },
      );
    }
    if (error instanceof WorkflowUpdateFailedError) {
      throw new CampaignMessageError(`Campaign ${id} is at its end; ${unchanged} carillon status ${id} shows it.`, {
        cause: error,
      });
    }
    if (isTimeout(error)) {
      throw new CampaignMessageError(
        [
          `No worker has answered for campaign ${id} within ${limitMs / 1000} s. Without a worker no call is placed; whether the campaign will ${wish} when one comes is not known.`,
          ...noWorkerLines(config),
          `Then repeat this command; repeating it is harmless.`,
        ].join('\n'),
        { cause: error },
      );
    }
    throw error;
  }
}

function isTimeout(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(cause) && (cause.code as number) === grpcDeadlineExceeded;
}
