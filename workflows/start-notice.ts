import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { completionNoticeId, pauseNoticeId } from '../src/domain/ids.ts';
import { completionNotice } from './completion-notice.ts';
import type { CompletionNoticeInput, PauseNoticeInput } from './messages.ts';
import { pauseNotice } from './pause-notice.ts';

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
