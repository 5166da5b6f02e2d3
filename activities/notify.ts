import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { failureTypes } from '../src/domain/failure-types.ts';
import { HookError } from '../src/hooks/errors.ts';
import { hookPlace } from '../src/hooks/hook-place.ts';
import { postSigned } from '../src/hooks/signed-post.ts';
import { findCampaign } from '../src/store/campaigns.ts';
import { findNotice } from '../src/store/hook-standing.ts';
import { noteNotice, type RoundEnd } from '../src/store/round-end.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { toFailure } from './failures.ts';

export interface NotifyInput {
  campaignId: string;
  round: number;
  end: RoundEnd;
}

/** Why the hook was not told, in the details of the failure. */
export interface NoticeFault {
  fault: string;
  status: number | null;
}

const timeoutMs = 15_000;
/** Of the answer only the status is of interest. */
const longestAnswerBytes = 64 * 1024;

/**
 * Tells the completion hook of a campaign that a round has ended. Each try has the same body and event id; one that was delivered is not
 * sent again. Fails for good when the hook refuses it, and to be tried again for anything else.
 */
export async function notify(deps: ActivityDependencies, { campaignId, round, end }: NotifyInput): Promise<void> {
  const { store, logger } = deps;
  let place: string | undefined;
  try {
    const campaign = await findCampaign(store.db, campaignId);
    const hook = campaign?.rules.onCompletion ?? null;
    if (hook === null || (await findNotice(store.db, campaignId, round)) === 'delivered') return;
    place = hookPlace('on_completion', hook.url);
    const { startedAt, endedAt, ...counts } = end;
    await postSigned({
      url: hook.url,
      readVariable: deps.readVariable ?? (() => undefined),
      secret: deps.hookSecret ?? null,
      eventId: `${campaignId}/${round}`,
      body: {
        event: 'campaign.ended',
        campaign: campaignId,
        round,
        ...counts,
        started_at: new Date(startedAt).toISOString(),
        ended_at: new Date(endedAt).toISOString(),
      },
      timeoutMs: Math.min(timeoutMs, deps.limits.httpTimeoutMs),
      longestAnswerBytes,
      nowReal: deps.nowReal,
      stopping: deps.stopping,
    });
    await noteNotice(store.db, 'hook.delivered', { campaignId, round }, await instantForLog(deps));
  } catch (error) {
    if (!(error instanceof HookError)) throw toFailure(error);
    const { fault, status } = error;
    logger.warn({ campaignId, round, fault, status, hook: place }, 'the completion hook was not told of the end');
    throw ApplicationFailure.create({
      type: failureTypes.hook,
      message: `The completion hook was not told of the end (${status ?? fault})`,
      nonRetryable: status !== null && isRefusal(status),
      details: [{ fault, status } satisfies NoticeFault],
      category: ApplicationFailureCategory.BENIGN,
    });
  }
}

/** Notes that the hook will not be told any more. */
export async function noteUndelivered(
  deps: ActivityDependencies,
  { campaignId, round, fault, status }: { campaignId: string; round: number } & NoticeFault,
): Promise<void> {
  try {
    if ((await findNotice(deps.store.db, campaignId, round)) !== null) return;
    const now = await instantForLog(deps);
    await noteNotice(deps.store.db, 'hook.failed', { campaignId, round, fault, status }, now);
  } catch (error) {
    throw toFailure(error);
  }
}

/** A service that does not answer must not keep the log from being written. */
function instantForLog(deps: ActivityDependencies): Promise<number> {
  return deps.serviceClock().then(serviceNow, () => Math.round(deps.nowReal()));
}

/** An answer that the next try would get as well. */
function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}
