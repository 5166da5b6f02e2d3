import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { campaignQueues, campaignWorkflowId } from '../domain/ids.ts';
import {
  cancelUpdate,
  drainUpdate,
  knownResumeUpdate,
  lookAgainUpdate,
  pauseUpdate,
  resumeUpdate,
} from '../../workflows/messages.ts';
import { hasEnded } from '../domain/lifecycle.ts';
import { findCampaign, type Campaign } from '../ledger/rows/campaigns.ts';
import { countOwnPauses } from '../ledger/wishes.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from '../input/usage-error.ts';
import { stateText } from '../words/campaign.ts';
import { withCampaign, type LedgerAccess } from './ledger.ts';
import { noWorkerLines } from './supervision.ts';
import { withTemporal, type Session } from './temporal.ts';

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
const connectLimitMs = 5_000;
const grpcDeadlineExceeded = 4;

/**
 * Tells a running campaign to go on or end; answers its state after the change was committed to the database, or null when `confirm`
 * was answered with no.
 */
export async function tellCampaign(
  io: Surroundings,
  input: { campaignId: string; wish: Wish; confirm: () => Promise<boolean>; limitMs?: number },
): Promise<Campaign | null> {
  const { campaignId, wish, confirm, limitMs = answerLimitMs } = input;
  return withCampaign(io, campaignId, async (open) => {
    const { campaign } = open;
    const { db } = open.store;
    refuseUnfit(campaign, wish);
    const pausesSeen = await countOwnPauses(db, campaignId);
    if (!(await confirm())) return null;
    return withTemporal(io, open, async (session) => {
      const changed = await sendUpdate(session, { campaign, wish, pausesSeen, limitMs });
      const after = (await findCampaign(db, campaignId)) ?? campaign;
      if (!changed) throw new CampaignMessageError(`Campaign ${campaignId} is ${stateText(after)}; ${unchanged}`);
      return after;
    });
  });
}

const unchanged = 'nothing was changed.';

/** Throws UsageError. */
export function refuseUnfit(campaign: Campaign, wish: Wish): void {
  const { campaignId: id } = campaign;
  if (campaign.state === 'failed')
    throw new UsageError(`Campaign ${id} has failed, so there is nothing to ${wish}.`, {
      remedy: { kind: 'fix_failure', campaignId: id },
    });
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

/**
 * Makes a running campaign see at once that its rows or limits were changed; any other sees it when it goes on. Answers false, with the
 * reason on standard error, when it could not be told: then it sees the change at its next look.
 */
export async function tellToLook(io: Surroundings, access: LedgerAccess, campaignId: string): Promise<boolean> {
  const campaign = await findCampaign(access.store.db, campaignId);
  if (campaign?.state !== 'running') return true;
  try {
    await withTemporal(io, access, (session) => sendUpdate(session, { campaign, wish: 'look' }), connectLimitMs);
    return true;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    io.stderr.write(
      `The change is committed, but campaign ${campaignId} could not be notified: ${why}\nIt applies from the next plan on; carillon resume ${campaignId} makes the campaign plan now.\n`,
    );
    return false;
  }
}

interface UpdateInput {
  campaign: Campaign;
  wish: Wish | 'look';
  /** For a resume: `countOwnPauses` when the person wished it. */
  pausesSeen?: number;
  limitMs?: number;
}

/** Sends the update to a campaign's workflow; repeating it is harmless. Answers whether the campaign's state allowed it. */
export async function sendUpdate(
  { config, store, temporal: { client, connection, address } }: Session,
  { campaign, wish, pausesSeen, limitMs = answerLimitMs }: UpdateInput,
): Promise<boolean> {
  const { campaignId: id } = campaign;
  const handle = client.workflow.getHandle(campaignWorkflowId(id, campaign.round));
  try {
    return await connection.withDeadline(Date.now() + limitMs, async () => {
      // The name alone may be that of another database's campaign, which is not ours to stop.
      const { taskQueue } = await handle.describe();
      if (taskQueue !== campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign) {
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
        `Temporal at ${address} does not run campaign ${id}: ${unchanged} carillon recover ${id} starts it anew; then repeat this.`,
        { cause: error },
      );
    }
    if (error instanceof WorkflowUpdateFailedError) {
      throw new CampaignMessageError(`Campaign ${id} has ended; ${unchanged} carillon status ${id} shows it.`, {
        cause: error,
      });
    }
    if (isTimeout(error)) {
      throw new CampaignMessageError(
        [
          `No worker answered for campaign ${id} within ${limitMs / 1000} s. Without a worker no call is placed; it is not known whether the campaign will ${wish} when one starts.`,
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
