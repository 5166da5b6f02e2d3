import { Context } from '@temporalio/activity';
import { pausedByOperator } from '../src/rules/lifecycle.ts';
import { endCampaign, pauseCampaign, resumeCampaign } from '../src/ledger/rows/campaigns.ts';
import type { ControlRequest, ControlChange } from '../src/ledger/control-requests.ts';
import { goOnFromPilot } from '../src/ledger/limits/pilot.ts';
import type { ActivityDependencies } from './dependencies.ts';

export interface ChangeStateInput {
  campaignId: string;
  change: ControlChange;
  /** Reason of a drain, for the log; absent: an operator requested it. */
  reason?: string;
  /** Absent: the request is made by this activity itself. */
  wish?: Omit<ControlRequest, 'waitedMs'> & { sample?: true };
}

/** Commits an operator's request, once; after it no POST begins that the new state forbids. */
export async function changeState(deps: ActivityDependencies, input: ChangeStateInput): Promise<{ changed: boolean }> {
  // Only for the log: an unreachable service must not keep the operator from pausing.
  const clock = await deps.serviceClock().catch(() => ({ now: deps.nowReal, speed: 1 }));
  const now = Math.round(clock.now());
  const request = input.wish === undefined ? undefined : { ...input.wish, waitedMs: Math.ceil(waitedMs() * clock.speed) };
  const { campaignId } = input;
  switch (input.change) {
    case 'pause':
      return { changed: await pauseCampaign(deps.store, { campaignId, now }, { reason: pausedByOperator, wish: request }) };
    case 'resume':
      return {
        changed: await resumeCampaign(
          deps.store,
          { campaignId, now },
          { wish: request, beside: (tx, campaign) => goOnFromPilot(tx, campaign, { now, again: input.wish?.sample === true }) },
        ),
      };
    case 'drain':
      return {
        changed: await endCampaign(deps.store, { campaignId, now }, { why: 'drained', wish: request, reason: input.reason }),
      };
    case 'cancel':
      return { changed: await endCampaign(deps.store, { campaignId, now }, { why: 'cancelled', wish: request }) };
  }
}

/** Time since the activity was first due, by the server's clock; 0 at its first try. */
function waitedMs(): number {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 ? 0 : Math.max(1, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}
