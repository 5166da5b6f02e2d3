import { findReportedBatches, takeReport, type Reported, type ReportedBatch } from '../src/ledger/collect/reported.ts';
import { findWithdrawals, noteWithdrawing, type Withdrawal } from '../src/ledger/plan/withdrawals.ts';
import { groupBy } from '../src/rules/collections.ts';
import { RateLimitedError, RefusedError } from '../src/service/port/errors.ts';
import { hasPassed, serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf } from './failures.ts';
import type { Sweep } from './walk-list.ts';
import { watchClocks } from './watch-clocks.ts';

const readsAtOnce = 8;
/** Minimum service time between reports of a batch. */
const reportEveryMs = 15_000;
/** Pause before repeating a withdrawal that left calls waiting. */
const askAgainMs = 60_000;

/** Time of each batch's last report, which costs a request and covers all its calls. */
const lastReportAt = new WeakMap<ActivityDependencies['service'], Map<string, number>>();

/** Reads reports of batches with open calls and withdraws calls that must not ring. False: one was unreadable; the others count. */
export async function readReports(sweep: Sweep): Promise<boolean> {
  const { deps, clock, agentId } = sweep;
  const known = lastReportAt.get(deps.service) ?? new Map<string, number>();
  lastReportAt.set(deps.service, known);
  const batches = await findReportedBatches(deps.store.db, agentId);
  const withdrawals = await readWithdrawals(sweep, batches);
  const queue = batches.values();
  let ok = true;
  let failure: unknown;
  const work = async () => {
    for (const batch of queue) {
      if (failure !== undefined) return;
      const now = serviceNow(clock);
      const withdrawal = withdrawals.get(batch.batchId);
      const mayAsk = withdrawal !== undefined && hasPassed(askAgainMs, { since: batch.withdrawAskedAt ?? -Infinity, now });
      if (!mayAsk && !hasPassed(reportEveryMs, { since: known.get(batch.batchId) ?? -Infinity, now })) continue;
      known.set(batch.batchId, now);
      try {
        await readOne(sweep, batch, mayAsk ? withdrawal : null);
      } catch (error) {
        ok = false;
        if (error instanceof RateLimitedError) failure = error;
        deps.logger.warn({ batchId: batch.batchId, error: codeOf(error) }, 'the report of a batch could not be read');
      }
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, work));
  for (const batchId of known.keys()) if (!batches.some((batch) => batch.batchId === batchId)) known.delete(batchId);
  if (failure !== undefined) throw failure;
  return ok;
}

async function readWithdrawals({ deps, clock }: Sweep, batches: readonly ReportedBatch[]): Promise<ReadonlyMap<string, Withdrawal>> {
  const found: [string, Withdrawal][] = [];
  for (const [campaignId, own] of groupBy(batches, (batch) => batch.campaignId)) {
    const at = { campaignId, now: serviceNow(clock) };
    const batchIds = own.map(({ batchId }) => batchId);
    found.push(...(await findWithdrawals(deps.store.db, at, batchIds)));
  }
  return new Map(found);
}

async function readOne({ deps, clock, timing, onStep }: Sweep, batch: ReportedBatch, withdrawal: Withdrawal | null): Promise<void> {
  const { batchId, serviceBatchId } = batch;
  const reports = await deps.service.report?.(serviceBatchId).catch((error: unknown) => {
    // The batch was deleted there: only records still show its calls, and an operator decides about those without any.
    if (!(error instanceof RefusedError) || error.status !== 404) throw error;
    deps.logger.error({ batchId, serviceBatchId }, 'the service does not have a batch any more that it took: was it deleted there?');
    return undefined;
  });
  onStep();
  if (reports === undefined) return;
  // Notices a clock step before ages of reports decide anything.
  await watchClocks(deps, clock, timing.clockToleranceMs);
  const now = serviceNow(clock);
  const reported = await deps.store.transaction((tx) => takeReport(tx, batchId, { reports, now }));
  const { waiting, contradictions } = reported;
  if (contradictions > 0)
    deps.logger.warn({ batchId, contradictions }, 'entries of a report fit no call of its batch, or calls are missing in it');
  if (withdrawal !== null) await takeBack(deps, { batch, withdrawal, waiting, now });
}

interface TakeBack extends Pick<Reported, 'waiting'> {
  batch: ReportedBatch;
  withdrawal: Withdrawal;
  now: number;
}

async function takeBack(deps: ActivityDependencies, { batch, withdrawal, waiting, now }: TakeBack): Promise<void> {
  const { reason, attemptIds } = withdrawal;
  const refs = waiting.filter(({ attemptId }) => attemptIds === 'all' || attemptIds.has(attemptId)).map(({ ref }) => ref);
  if (refs.length === 0) return;
  const { batchId, campaignId, serviceBatchId } = batch;
  await deps.store.transaction((tx) => noteWithdrawing(tx, { campaignId, now }, { batchId, reason }));
  const isWhole = attemptIds === 'all' || deps.service.abilities.withdraw === 'batch';
  await deps.service.withdraw?.(serviceBatchId, isWhole ? 'all' : refs);
  deps.logger.info({ batchId, reason, calls: isWhole ? waiting.length : refs.length }, 'calls that wait at the service were asked back');
}
