import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { NotificationFault } from '../activities/notify.ts';
import { failureTypes } from '../src/rules/failure-types.ts';
import type { WorkflowSetting } from './messages.ts';

const dayMs = 24 * 60 * 60_000;

/** Calls a hook by `send`, retrying for a day; `notification` is then recorded as undelivered. */
export async function tellHook(
  { queues, timeouts }: WorkflowSetting,
  notification: { campaignId: string; round: number; pausedAt?: number },
  send: (activities: Pick<Activities, 'notify' | 'notifyPause'>) => Promise<void>,
): Promise<{ delivered: boolean }> {
  const notifying = proxyActivities<Pick<Activities, 'notify' | 'notifyPause'>>({
    taskQueue: queues.campaign,
    startToCloseTimeout: timeouts.shortMs,
    scheduleToCloseTimeout: dayMs,
    retry: { initialInterval: 5_000, backoffCoefficient: 2, maximumInterval: 15 * 60_000 },
  });
  const { noteUndelivered } = proxyActivities<Pick<Activities, 'noteUndelivered'>>({
    taskQueue: queues.campaign,
    startToCloseTimeout: timeouts.shortMs,
    retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 },
  });
  try {
    await send(notifying);
    return { delivered: true };
  } catch (error) {
    if (isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => noteUndelivered({ ...notification, ...faultOf(error) }));
    return { delivered: false };
  }
}

function faultOf(error: unknown): NotificationFault {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === failureTypes.hook)
    return (cause.details?.[0] as NotificationFault | undefined) ?? { fault: 'given_up', status: null };
  return { fault: 'given_up', status: null };
}
