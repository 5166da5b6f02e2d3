import type { CompletionNoticeInput, PauseNoticeInput } from './messages.ts';
import { tellHook } from './tell-hook.ts';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { completionNoticeId, pauseNoticeId } from '../src/rules/ids.ts';

/**
 * Tells the completion hook that a round has ended. A workflow of its own: the campaign is over whether somebody hears of it or not, and a
 * schedule does not wait for it with its next firing.
 */
export async function completionNotice(input: CompletionNoticeInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, end } = input;
  return tellHook(input, { campaignId, round }, ({ notify }) => notify({ campaignId, round, end }));
}

/**
 * Tells the pause hook that a campaign has paused by itself. A workflow of its own: the campaign goes on whether somebody hears of it or
 * not.
 */
export async function pauseNotice(input: PauseNoticeInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, pausedAt } = input;
  const notice = { campaignId, round, pausedAt };
  return tellHook(input, notice, ({ notifyPause }) => notifyPause(notice));
}

/**
 * Has a hook told of the end, or of a pause, by a workflow of its own, which the campaign does not wait for. What was told once is not told
 * again.
 */
export async function startNotice(notice: CompletionNoticeInput | PauseNoticeInput): Promise<void> {
  const { campaignId, round, queues } = notice;
  const options = {
    taskQueue: queues.campaign,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    parentClosePolicy: ParentClosePolicy.ABANDON,
  };
  try {
    if ('pausedAt' in notice) {
      await startChild(pauseNotice, {
        ...options,
        workflowId: pauseNoticeId(campaignId, round, notice.pausedAt),
        staticSummary: `tells of a pause of ${campaignId}, round ${round}`.slice(0, 200),
        args: [notice],
      });
    } else {
      await startChild(completionNotice, {
        ...options,
        workflowId: completionNoticeId(campaignId, round),
        staticSummary: `tells of the end of ${campaignId}, round ${round}`.slice(0, 200),
        args: [notice],
      });
    }
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
