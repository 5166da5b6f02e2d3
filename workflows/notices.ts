import type { CompletionNotificationInput, PauseNotificationInput } from './messages.ts';
import { tellHook } from './tell-hook.ts';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { completionNotificationId, pauseNotificationId } from '../src/rules/ids.ts';

/**
 * Notifies the completion hook. A workflow of its own, so that neither the campaign's end nor the next scheduled run waits for the hook.
 */
export async function completionNotice(input: CompletionNotificationInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, end } = input;
  return tellHook(input, { campaignId, round }, ({ notify }) => notify({ campaignId, round, end }));
}

/** Notifies the pause hook. A workflow of its own, so that the campaign does not wait for the hook. */
export async function pauseNotice(input: PauseNotificationInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, pausedAt } = input;
  const notification = { campaignId, round, pausedAt };
  return tellHook(input, notification, ({ notifyPause }) => notifyPause(notification));
}

/** Starts the notification of an end or a pause without waiting for it. A delivered one is not repeated. */
export async function startNotice(notification: CompletionNotificationInput | PauseNotificationInput): Promise<void> {
  const { campaignId, round, queues } = notification;
  const options = {
    taskQueue: queues.campaign,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    parentClosePolicy: ParentClosePolicy.ABANDON,
  };
  try {
    if ('pausedAt' in notification) {
      await startChild(pauseNotice, {
        ...options,
        workflowId: pauseNotificationId(campaignId, round, notification.pausedAt),
        staticSummary: `tells of a pause of ${campaignId}, round ${round}`.slice(0, 200),
        args: [notification],
      });
    } else {
      await startChild(completionNotice, {
        ...options,
        workflowId: completionNotificationId(campaignId, round),
        staticSummary: `tells of the end of ${campaignId}, round ${round}`.slice(0, 200),
        args: [notification],
      });
    }
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
