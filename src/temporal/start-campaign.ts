import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { campaignQueues, campaignWorkflowId, type CampaignInput } from '../../workflows/messages.ts';
import type { Config } from '../config.ts';
import { openRound, type Round } from '../store/rounds.ts';
import type { Store } from '../store/open-store.ts';
import { campaignTimeouts } from './worker.ts';

/**
 * Starts the workflow of the round that a campaign is to run now, or attaches to the one that runs. Idempotent: a crash between
 * the database and Temporal is mended by running it again. Answers undefined when nothing is left to run.
 */
export async function startCampaign(
  deps: { config: Config; store: Store; client: Client; now: number },
  campaignId: string,
): Promise<{ round: Round; attached: boolean } | undefined> {
  const { config, store, client } = deps;
  const round = await openRound(store, campaignId, campaignWorkflowId, deps.now);
  if (round === undefined) return undefined;
  const queues = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId);
  const input: CampaignInput = {
    campaignId,
    round: round.round,
    queues,
    timeouts: campaignTimeouts(config),
    submitted: 0,
    verified: false,
  };
  try {
    await client.workflow.start('campaign', {
      taskQueue: queues.campaign,
      workflowId: round.workflowId,
      // A round that has ended stays ended; one whose workflow was terminated by hand may go on: the ledger knows what was sent.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      workflowIdConflictPolicy: 'FAIL',
      args: [input],
      staticSummary: `campaign ${campaignId}, round ${round.round}`.slice(0, 200),
    });
    return { round, attached: false };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { round, attached: true };
  }
}

/** Whether the workflow of a round is known to the server; false when its history is gone or it never began. */
export async function isWorkflowKnown(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
