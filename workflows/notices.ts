import type { CompletionNoticeInput, PauseNoticeInput } from './messages.ts';
import { tellHook } from './tell-hook.ts';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { completionNoticeId, pauseNoticeId } from '../src/rules/ids.ts';

/**
 * Notifies the completion hook. A workflow of its own, so that neither the campaign's end nor the next scheduled run waits for the hook.
 */
export async function completionNotice(input: CompletionNoticeInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, end } = input;
  return tellHook(input, { campaignId, round }, ({ notify }) => notify({ campaignId, round, end }));
}

/** Notifies the pause hook. A workflow of its own, so that the campaign does not wait for the hook. */
export async function pauseNotice(input: PauseNoticeInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, pausedAt } = input;
  const notice = { campaignId, round, pausedAt };
  return tellHook(input, notice, ({ notifyPause }) => notifyPause(notice));
}

/** Starts the notification of an end or a pause without waiting for it. A delivered one is not repeated. */
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
