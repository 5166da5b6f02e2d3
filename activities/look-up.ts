import { readLookUpProof } from '../src/ledger/campaign/lookup-proof.ts';
import {
  findDeniedRequests,
  findGivenBack,
  findLostRequests,
  listPatienceMs,
  applyLookUp,
  type LostRequest,
} from '../src/ledger/collect/look-ups.ts';
import { holdAccount, readAccount } from '../src/ledger/limits/account-pace.ts';
import { noteWithdrawing } from '../src/ledger/plan/withdrawals.ts';
import { campaignIdOf } from '../src/ledger/ledger-older.ts';
import type { LostRequestOutcome } from '../src/rules/correlation/call-report.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import type { CampaignRules } from '../src/rules/campaign-rules.ts';
import { hasPassed, serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf } from './failures.ts';
import { watchClocks } from './watch-clocks.ts';

interface LookUpContext {
  deps: ActivityDependencies;
  clock: ServiceClock;
  agentId: string;
  timing: Pick<CampaignRules['timing'], 'clockToleranceMs'>;
  onStep: () => void;
}

/** Pause between look-ups of a request, in service time: a quarter of its age, within these bounds. */
const leastPauseMs = 15_000;
const longestPauseMs = 120_000;

/** Time of each request's last look-up. */
const lookedUpAt = new WeakMap<ActivityDependencies['service'], Map<string, number>>();

/** Looks up an agent's requests without an answer. False when one could not be looked up. */
export async function lookUpLost(context: LookUpContext): Promise<boolean> {
  const { deps, clock, agentId } = context;
  const known = lookedUpAt.get(deps.service) ?? new Map<string, number>();
  lookedUpAt.set(deps.service, known);
  let ok = true;
  const isKeyed = deps.service.abilities.lookUp === 'key';
  const givenBack = isKeyed ? await findGivenBack(deps.store.db, agentId, serviceNow(clock)) : [];
  const lost = [...(await findLostRequests(deps.store.db, agentId)), ...givenBack];
  for (const mark of known.keys()) if (!lost.some((request) => request.mark === mark)) known.delete(mark);
  for (const request of lost) {
    if (await isHeld(context)) return false;
    const now = serviceNow(clock);
    const pauseMs = Math.min(Math.max((now - request.since) / 4, leastPauseMs), longestPauseMs);
    if (!hasPassed(pauseMs, { since: known.get(request.mark) ?? -Infinity, now })) continue;
    known.set(request.mark, now);
    const { kind } = await lookUp(context, request);
    if (kind === 'not_readable') ok = false;
  }
  return ok;
}

/** Looks up, before a repost, a batch's requests answered as not taken. False: not known yet; null: none. */
export async function lookUpDenied(context: LookUpContext, batchId: string): Promise<boolean | null> {
  const { deps, clock } = context;
  const denied = await findDeniedRequests(deps.store.db, batchId);
  const patienceMs = listPatienceMs(await readProvenLag(deps));
  let isClear = true;
  for (const request of denied) {
    if (await isHeld(context)) return false;
    const begunAt = serviceNow(clock);
    const found = await lookUp(context, request);
    if (found.kind === 'accepted' || found.kind === 'several') break;
    const { steppedAt } = await readAccount(deps.store.db, deps.accountId);
    const since = Math.max(request.answeredAt ?? Infinity, steppedAt);
    const isSure = found.kind === 'absent' && (found.certain || begunAt >= since + patienceMs);
    if (!isSure) isClear = false;
  }
  return denied.length === 0 ? null : isClear;
}

/** A look-up is a request, so a pause that the service asked for applies. */
async function isHeld({ deps, clock }: LookUpContext): Promise<boolean> {
  return serviceNow(clock) < (await readAccount(deps.store.db, deps.accountId)).notBefore;
}

async function lookUp({ deps, clock, agentId, timing, onStep }: LookUpContext, request: LostRequest): Promise<LostRequestOutcome> {
  const { batchId, mark, callerId } = request;
  const begunAt = serviceNow(clock);
  const found = (await deps.service.find?.({ mark, agentId, callerId, since: request.since - timing.clockToleranceMs })) ?? notReadable;
  onStep();
  deps.logger.info({ batchId, found: found.kind }, 'a request without an answer was looked up');
  const provenLagMs = await readProvenLag(deps);
  // Notices a clock step before the request's age decides anything.
  await watchClocks(deps, clock, timing.clockToleranceMs);
  const now = serviceNow(clock);
  const waitMs = found.kind === 'not_readable' ? (found.retryAfterMs ?? 0) : 0;
  if (waitMs > 0) await deps.store.transaction((tx) => holdAccount(tx, deps.accountId, now + waitMs));
  await deps.store.transaction((tx) => applyLookUp(tx, batchId, { mark, found, begunAt, now, provenLagMs }));
  if (found.kind === 'several') await takeAllBack(deps, { batchId, serviceBatchIds: found.serviceBatchIds, now });
  return found;
}

/** Proven lag of the service's list; null: not measured. */
async function readProvenLag(deps: ActivityDependencies): Promise<number | null> {
  const proof = await readLookUpProof(deps.store.db, deps);
  return proof === null ? null : (proof.listLagMs ?? 0);
}

const notReadable: LostRequestOutcome = { kind: 'not_readable' };

/** The service made several batches of one request, with the same recipients: none may call. */
export async function takeAllBack(
  deps: ActivityDependencies,
  { batchId, serviceBatchIds, now }: { batchId: string; serviceBatchIds: readonly string[]; now: number },
): Promise<void> {
  const at = { campaignId: campaignIdOf(batchId), now };
  await deps.store.transaction((tx) => noteWithdrawing(tx, at, { batchId, reason: 'carried_out_twice' }));
  for (const serviceBatchId of serviceBatchIds) {
    await deps.service.withdraw?.(serviceBatchId, 'all').catch((error: unknown) => {
      deps.logger.error({ batchId, serviceBatchId, error: codeOf(error) }, 'a batch that the service has twice could not be taken back');
    });
  }
}
