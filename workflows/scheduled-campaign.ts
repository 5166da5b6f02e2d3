import {
  ApplicationFailure,
  CancellationScope,
  condition,
  ChildWorkflowCancellationType,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  rootCause,
  setCurrentDetails,
  setHandler,
  startChild,
  workflowInfo,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { failureTypes } from '../src/rules/failure-types.ts';
import { campaign } from './campaign.ts';
import { scheduledTimeOf } from '../src/rules/ids.ts';
import { onlyPromisesSignal, type ScheduledRunResult, type ScheduledCampaignInput } from './messages.ts';

/** Enough for a million rows over a slow line. */
const importMs = 60 * 60_000;

/**
 * One run of a recurring campaign: imports its list, then runs the campaign. Lasts while recipients are left to call, so that the schedule,
 * which skips overlaps, starts no second run beside it. Callbacks do not delay the next run: the campaign keeps them by itself.
 */
export async function scheduledCampaign(input: ScheduledCampaignInput): Promise<ScheduledRunResult> {
  const { scheduleId, timeZone, catchUpMs, queues, timeouts } = input;
  const { workflowId, startTime } = workflowInfo();
  const scheduledRun = { scheduleId, timeZone, catchUpMs, scheduledAt: scheduledTimeOf(workflowId) ?? startTime.getTime() };
  const { fireSchedule } = proxyActivities<Pick<Activities, 'fireSchedule'>>({
    taskQueue: queues.campaign,
    startToCloseTimeout: importMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: { initialInterval: 5_000, backoffCoefficient: 2, maximumInterval: 60_000, maximumAttempts: 8 },
  });
  const { noteFiringFailure } = proxyActivities<Pick<Activities, 'noteFiringFailure'>>({
    taskQueue: queues.campaign,
    startToCloseTimeout: timeouts.shortMs,
    retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 },
  });
  try {
    const fired = await fireSchedule(scheduledRun);
    setCurrentDetails(`campaign ${fired.campaignId}`);
    if (fired.round === null) return { campaignId: fired.campaignId, total: null, done: null };
    let areLeft = false;
    setHandler(onlyPromisesSignal, () => {
      areLeft = true;
    });
    const child = await startChild(campaign, {
      workflowId: fired.round.workflowId,
      taskQueue: queues.campaign,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
      // Terminating the run must not end its campaign's calls.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: `campaign ${fired.campaignId}, round ${fired.round.number}`.slice(0, 200),
      args: [
        {
          campaignId: fired.campaignId,
          round: fired.round.number,
          queues,
          timeouts,
          submitted: 0,
          callersChecked: false,
        },
      ],
    });
    const ended = child.result();
    await Promise.race([ended, condition(() => areLeft)]);
    if (areLeft) return { campaignId: fired.campaignId, total: null, done: null };
    const { total, done } = await ended;
    return { campaignId: fired.campaignId, total, done };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = reasonOf(error);
    await CancellationScope.nonCancellable(() => noteFiringFailure({ ...scheduledRun, reason }));
    throw ApplicationFailure.nonRetryable(reason, failureTypes.firing);
  }
}

/** Safe for a history: the activity's message, which holds no number, or the kind of failure. */
function reasonOf(error: unknown): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApplicationFailure && cause.type === failureTypes.firing) return cause.message;
  }
  return `The run failed: ${rootCause(error) ?? 'for a reason that is not known'}.`;
}
