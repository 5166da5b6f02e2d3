import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { NoticeFault } from '../activities/notify.ts';
import { failureTypes } from '../src/domain/failure-types.ts';
import type { CompletionNoticeInput } from './messages.ts';

/** How long the hook is tried. */
const dayMs = 24 * 60 * 60_000;

/**
 * Tells the completion hook that a round has ended, for a day if need be. A workflow of its own: the campaign is over whether somebody
 * hears of it or not, and a schedule does not wait for it with its next firing.
 */
export async function completionNotice(input: CompletionNoticeInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, end, queues, timeouts } = input;
  const { notify } = proxyActivities<Pick<Activities, 'notify'>>({
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
    await notify({ campaignId, round, end });
    return { delivered: true };
  } catch (error) {
    if (isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => noteUndelivered({ campaignId, round, ...faultOf(error) }));
    return { delivered: false };
  }
}

function faultOf(error: unknown): NoticeFault {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === failureTypes.hook)
    return (cause.details?.[0] as NoticeFault | undefined) ?? { fault: 'given_up', status: null };
  return { fault: 'given_up', status: null };
}
