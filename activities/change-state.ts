import { Context } from '@temporalio/activity';
import { pausedByPerson } from '../src/rules/lifecycle.ts';
import { endCampaign, pauseCampaign, resumeCampaign } from '../src/ledger/rows/campaigns.ts';
import type { ControlRequest, ControlChange } from '../src/ledger/control-requests.ts';
import { goOnFromPilot } from '../src/ledger/limits/pilot.ts';
import type { ActivityDependencies } from './dependencies.ts';

export interface ChangeStateInput {
  campaignId: string;
  change: ControlChange;
  /** Of a drain, as the log shows it; absent: a person wished it. */
  reason?: string;
  /** Absent: made here and now. */
  wish?: Omit<ControlRequest, 'waitedMs'> & { sample?: true };
}

/** Commits a person's wish to the database, once; from then on no POST begins that the new state forbids. */
export async function changeState(deps: ActivityDependencies, input: ChangeStateInput): Promise<{ changed: boolean }> {
  // The instant is for the log alone: a service that does not answer must not keep a person from pausing.
  const clock = await deps.serviceClock().catch(() => ({ now: deps.nowReal, speed: 1 }));
  const now = Math.round(clock.now());
  const wish = input.wish === undefined ? undefined : { ...input.wish, waitedMs: Math.ceil(waitedMs() * clock.speed) };
  const { campaignId } = input;
  switch (input.change) {
    case 'pause':
      return { changed: await pauseCampaign(deps.store, { campaignId, now }, { reason: pausedByPerson, wish }) };
    case 'resume':
      return {
        changed: await resumeCampaign(
          deps.store,
          { campaignId, now },
          { wish, beside: (tx, campaign) => goOnFromPilot(tx, campaign, { now, again: input.wish?.sample === true }) },
        ),
      };
    case 'drain':
      return {
        changed: await endCampaign(deps.store, { campaignId, now }, { why: 'drained', wish, reason: input.reason }),
      };
    case 'cancel':
      return { changed: await endCampaign(deps.store, { campaignId, now }, { why: 'cancelled', wish }) };
  }
}

/** How long ago the activity was first to run; 0 at its first try. By the server's clock alone. */
function waitedMs(): number {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 ? 0 : Math.max(1, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}
