import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { countOutstanding, isOutstanding } from '../src/ledger/limits/counters.ts';
import { lastReadAt } from '../src/ledger/collect/sweeps.ts';
import { pauseBetweenSweeps } from '../src/ledger/doubt/agent-records.ts';
import { requireCampaign, type Campaign } from '../src/ledger/rows/campaigns.ts';
import { isPlanReady } from '../src/ledger/plan/planning.ts';
import { readStatus, type CampaignStatus } from '../src/ledger/campaign/campaign-status.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { requireOwnAgent, requireOwnService } from './own-service.ts';
import { longestSweepStepMs, startHeartbeat } from './heartbeat.ts';
import { sweepAgent } from './sweep.ts';
import { isSameTiming } from './sweep-news.ts';

export type CampaignProgress = Pick<CampaignStatus, 'total' | 'done' | 'open' | 'waiting' | 'unresolved'>;

export async function readProgress({ store }: ActivityDependencies, campaign: Campaign): Promise<CampaignProgress> {
  const { total, done, open, waiting, unresolved } = await readStatus(store.db, campaign);
  return { total, done, open, waiting, unresolved };
}

export interface CollectResult {
  /** Work for the planner, a changed campaign state, nothing left to collect, or time. */
  reason: 'plan' | 'state' | 'nothing_outstanding' | 'time';
  outstanding: boolean;
  state: string;
  progress: CampaignProgress;
}

/** Maximum slow-down of polling while the service does not answer. */
const longestBackoff = 32;
const shortestPauseMs = 10;

async function finish(deps: ActivityDependencies, campaign: Campaign, reason: CollectResult['reason']): Promise<CollectResult> {
  const outstanding = isOutstanding(await countOutstanding(deps.store.db, campaign.campaignId));
  return { reason, outstanding, state: campaign.state, progress: await readProgress(deps, campaign) };
}

async function requireOwn(deps: ActivityDependencies, campaignId: string): Promise<Campaign> {
  const campaign = await requireCampaign(deps.store.db, campaignId);
  requireOwnService(deps, campaign);
  return campaign;
}

/** Keeps the previous collect's pace: a restart must not reread at once. */
async function untilNextSweepMs(deps: ActivityDependencies, { rules }: Campaign): Promise<number> {
  const readAt = await lastReadAt(deps.store.db, rules.agentId);
  if (readAt === null) return 0;
  const clock = await deps.serviceClock();
  const pollMs = await pauseBetweenSweeps(deps.store.db, rules);
  return clock.toRealMs(Math.min(pollMs, Math.max(0, readAt + pollMs - serviceNow(clock))));
}

async function collectUntilNeeded(
  deps: ActivityDependencies,
  campaignId: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress: () => void },
): Promise<CollectResult> {
  const begunAt = deps.monotonicMs();
  const { collectMaxMs, heartbeatEveryMs } = deps.limits;
  /** Waits in heartbeat steps, so that a deliberate wait does not count as stuck. Ends early with `news`. */
  const pause = async (ms: number, news: AbortSignal) => {
    let leftMs = Math.min(ms, Math.max(shortestPauseMs, begunAt + collectMaxMs - deps.monotonicMs()));
    for (; leftMs > 0 && !deps.stopping.aborted && !news.aborted; leftMs -= heartbeatEveryMs) {
      onProgress();
      await sleep(Math.min(leftMs, heartbeatEveryMs), undefined, {
        signal: AbortSignal.any([signal, deps.stopping, news]),
      }).catch((error: unknown) => {
        if (signal.aborted) throw error;
      });
    }
  };
  let before = await requireOwn(deps, campaignId);
  let failures = 0;
  let news = deps.sweepNews.next(before.rules.agentId);
  let sweepAt = deps.monotonicMs() + (await untilNextSweepMs(deps, before));
  for (;;) {
    await pause(sweepAt - deps.monotonicMs(), news);
    if (deps.stopping.aborted) return finish(deps, before, 'time');
    onProgress();
    const campaign = await requireOwn(deps, campaignId);
    const clock = await deps.serviceClock();
    const { timing, agentId } = campaign.rules;
    await requireOwnAgent(deps, agentId);
    const sweep = news.aborted ? null : await sweepAgent(deps, clock, { agentId, timing, onProgress });
    if (sweep !== null || isSameTiming(news, timing)) {
      failures = sweep?.kind === 'failed' ? failures + 1 : 0;
      const backoff = Math.min(2 ** failures, longestBackoff);
      const pauseMs = Math.max(
        shortestPauseMs,
        sweep?.waitMs ?? 0,
        clock.toRealMs(await pauseBetweenSweeps(deps.store.db, campaign.rules)) * backoff,
      );
      sweepAt = deps.monotonicMs() + pauseMs;
    }
    // Subscribed before the ledger is read, so that no sweep after this point is missed.
    news = deps.sweepNews.next(agentId);
    if (before.state !== campaign.state) return finish(deps, campaign, 'state');
    before = campaign;
    if (!isOutstanding(await countOutstanding(deps.store.db, campaignId))) return finish(deps, campaign, 'nothing_outstanding');
    if (await isPlanReady(deps.store, campaignId, serviceNow(clock))) return finish(deps, campaign, 'plan');
    if (deps.monotonicMs() - begunAt >= collectMaxMs) return finish(deps, campaign, 'time');
  }
}

/** Sweeps the agent's list until a batch can be planned, the state changes, all is collected or time is up. */
export async function collect(deps: ActivityDependencies, input: { campaignId: string }): Promise<CollectResult> {
  const context = Context.current();
  const signal = context.cancellationSignal;
  const everyMs = deps.limits.heartbeatEveryMs;
  const heartbeat = startHeartbeat(() => context.heartbeat(), { everyMs, longestStepMs: longestSweepStepMs(deps.limits) });
  try {
    return await collectUntilNeeded(deps, input.campaignId, { signal, onProgress: heartbeat.step });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    heartbeat.stop();
  }
}
