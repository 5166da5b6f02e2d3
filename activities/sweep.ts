import { randomUUID } from 'node:crypto';
import { ServiceError, RateLimitedError } from '../src/service/port/errors.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import type { CampaignRules } from '../src/rules/campaign-rules.ts';
import type { CorrelationClock } from '../src/rules/correlation/correlation.ts';
import { listDueReads, noteVanished, readOvertaken, storeRead, noteUnreadable, type ReadRow } from '../src/ledger/doubt/conversations.ts';
import { concludeSweep } from '../src/ledger/collect/conclude.ts';
import { conclusionDueSince } from '../src/ledger/doubt/open-batches.ts';
import { findMadeTwice } from '../src/ledger/collect/look-ups.ts';
import { matchRecords, oldestOpenPost } from '../src/ledger/collect/matching.ts';
import { settleRead } from '../src/ledger/collect/record-results.ts';
import { lockCampaignsOf } from '../src/ledger/locks.ts';
import { gatherWrites } from '../src/ledger/collect/gathered-writes.ts';
import type { Tx } from '../src/ledger/tx.ts';
import { followPossibleOptOuts } from '../src/ledger/doubt/possible-opt-outs.ts';
import { readAgentRecords } from '../src/ledger/doubt/agent-records.ts';
import { readAgent } from '../src/ledger/doubt/correlation-rows.ts';
import { keepLease, leaseAgent, noteReadSucceeded, releaseLease } from '../src/ledger/collect/sweeps.ts';
import { assumedClock } from './watch-clocks.ts';
import { hasPassed, serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf } from './failures.ts';
import { longestSweepStepMs, startHeartbeat } from './heartbeat.ts';
import { lookUpLost, takeAllBack } from './look-up.ts';
import { keepQuiet, quietTime } from './quiet-time.ts';
import { readReports } from './report.ts';
import { walkList, type ListScan, type Sweep } from './walk-list.ts';
import { watchClocks } from './watch-clocks.ts';

const readsAtOnce = 8;
const readsPerSweep = 400;

export interface SweepResult {
  /** `busy`: another process sweeps this agent. `failed`: nothing could be read. */
  kind: 'complete' | 'incomplete' | 'failed' | 'busy';
  /** Read as far back as required, even if single records were unreadable. */
  listed: boolean;
  /** Real ms for which the service wants no requests. */
  waitMs: number;
}

const missingPatienceMs = 60_000;

/**
 * How long a failing read is retried before the record counts as gone; null: not the record's own fault. A just listed record may not be
 * visible to every reader yet; one that fails for a day never will be.
 */
function patienceWith(error: unknown): number | null {
  if (!(error instanceof ServiceError) || !('status' in error) || typeof error.status !== 'number') return null;
  if ([401, 403, 408, 425, 429].includes(error.status)) return null;
  return error.status === 404 ? missingPatienceMs : 24 * 3_600_000;
}

/** Reads one record, answers how to write it. Throws where the fault is not the record's own. */
async function readOne(sweep: Sweep, conversationId: string, offsetMs: number): Promise<(tx: Tx) => Promise<void>> {
  const { deps, clock, agentId, pointers, optOut, timing } = sweep;
  const settle = (write: (tx: Tx, now: number) => Promise<ReadRow | undefined>) => async (tx: Tx) => {
    const row = await settleRead(tx, conversationId, {
      clock: () => serviceNow(clock),
      write: (now) => write(tx, now),
    });
    if (row !== undefined) deps.logger.debug({ conversationId, attemptId: row.attempt_id, final: row.final }, 'conversation read');
  };
  try {
    const { facts } = await deps.service.record(conversationId, { agentId, pointers });
    const { analysisWaitMs, ringLimitMs } = timing;
    return settle((tx, now) => storeRead(tx, conversationId, { facts, analysisWaitMs, ringLimitMs, optOut, offsetMs, now }));
  } catch (error) {
    const patienceMs = patienceWith(error);
    if (patienceMs === null) throw error;
    // It may still belong to any recipient.
    deps.logger.warn({ conversationId, error: codeOf(error) }, 'a record cannot be read');
    return settle((tx, now) => noteUnreadable(tx, conversationId, { patienceMs, now }));
  }
}

/** Reads due records, several at once. False when a read failed; the others are stored. */
async function readDue(sweep: Sweep, { offsetMs, undecidedSince }: { offsetMs: number; undecidedSince: number | null }): Promise<boolean> {
  const { deps, clock, agentId } = sweep;
  const query = { now: serviceNow(clock), undecidedSince, limit: readsPerSweep };
  const due = await listDueReads(deps.store.db, agentId, query);
  let ok = due.length < readsPerSweep;
  let failure: unknown;
  const noteFailed = (conversationId: string, error: unknown) => {
    ok = false;
    if (error instanceof RateLimitedError) failure = error;
    deps.logger.warn({ conversationId, error: codeOf(error) }, 'a conversation could not be read');
  };
  const writes = gatherWrites(deps.store, noteFailed);
  const queue = due.values();
  const work = async () => {
    for (const conversationId of queue) {
      if (failure !== undefined) return;
      try {
        await writes.add({ id: conversationId, work: await readOne(sweep, conversationId, offsetMs) });
        sweep.onStep();
      } catch (error) {
        noteFailed(conversationId, error);
      }
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, work));
  await writes.flush();
  if (failure !== undefined) throw failure;
  return ok;
}

/** Where the service reports each call, the list only adds records missing in reports: foreign and late ones. */
const listReadsPerLookback = 4;

/** Without reports the list is the only source. */
async function isListReadDue({ deps, agentId, timing }: Sweep, now: number): Promise<boolean> {
  if (!deps.service.abilities.namesRecipients) return true;
  const listReadAt = (await readAgent(deps.store.db, agentId))?.complete_begun_at ?? null;
  return hasPassed(timing.lateLookbackMs / listReadsPerLookback, { since: listReadAt ?? -Infinity, now });
}

/** Sweeps an agent's list for all its campaigns; only a complete sweep concludes from missing records. */
export async function sweepAgent(
  deps: ActivityDependencies,
  clock: ServiceClock,
  { agentId, timing, onProgress }: { agentId: string; timing: CampaignRules['timing']; onProgress: () => void },
): Promise<SweepResult> {
  const quietMs = quietTime(deps);
  if (quietMs > 0) return { kind: 'failed', listed: false, waitMs: quietMs };
  const { leaseMs } = deps.limits;
  // Unique per sweep: campaigns of one worker may share an agent.
  const owner = `${deps.workerId}/${randomUUID()}`;
  const lease = { agentId, owner, forMs: leaseMs };
  if (!(await leaseAgent(deps.store, lease))) return { kind: 'busy', listed: false, waitMs: 0 };
  const keep = (tx: Tx) => keepLease(tx, deps.store, lease);
  const beat = () => void deps.store.transaction(keep).catch(() => {});
  const renewal = startHeartbeat(beat, { everyMs: leaseMs / 3, longestStepMs: longestSweepStepMs(deps.limits) });
  const onStep = () => {
    renewal.step();
    onProgress();
  };
  const begunAt = serviceNow(clock);
  try {
    const openSince = await oldestOpenPost(deps.store.db, agentId);
    const dueSince = await conclusionDueSince(deps.store.db, agentId, begunAt);
    const until = Math.min(openSince ?? begunAt, begunAt - timing.lateLookbackMs, dueSince ?? begunAt);
    const undecidedSince = dueSince === null ? null : until;
    const sweep = { deps, clock, agentId, timing, onStep, ...(await readAgentRecords(deps.store.db, agentId)) };
    const read = ({ offsetMs }: CorrelationClock) => readDue(sweep, { offsetMs, undecidedSince });
    let isReported = true;
    if (deps.service.abilities.namesRecipients) {
      if (!(await lookUpLost(sweep))) isReported = false;
      if (!(await readReports(sweep))) isReported = false;
      if (isReported) await deps.store.transaction((tx) => noteReadSucceeded(tx, agentId, serviceNow(clock)));
    }
    let scan: ListScan | null = null;
    try {
      if (dueSince !== null || (await isListReadDue(sweep, begunAt))) scan = await walkList(sweep, until, dueSince !== null);
    } catch (error) {
      // A deleted agent's list is refused forever; known records can still be read one by one.
      if (patienceWith(error) === missingPatienceMs) await read(assumedClock);
      throw error;
    }
    let complete = scan === null || scan.coveredFrom !== null;
    if (scan !== null && scan.coveredFrom !== null) {
      const { listed, coveredFrom: from } = scan;
      const now = serviceNow(clock);
      const coverage = { span: { from, to: begunAt }, listed, now };
      if ((await deps.store.transaction((tx) => noteVanished(tx, agentId, coverage))) > 0) complete = false;
    }
    const clockReading = scan?.clockReading ?? assumedClock;
    if (!(await read(clockReading))) complete = false;
    // Precedes conclusions, since what was open while a clock was set gets no negative outcome.
    await watchClocks(deps, clock, timing.clockToleranceMs);
    const madeTwice = await deps.store.transaction(async (tx) => {
      if (!(await keep(tx))) {
        complete = false;
        return [];
      }
      await lockCampaignsOf(tx, agentId);
      const now = serviceNow(clock);
      if (scan !== null && scan.ordered && scan.oldestSeen !== null)
        await readOvertaken(tx, agentId, { oldestListed: scan.oldestSeen, now });
      const twice = deps.service.abilities.lookUp === 'mark' ? await findMadeTwice(tx, agentId, { since: until, now }) : [];
      await matchRecords(tx, agentId, { clock: clockReading, since: until, timing, now });
      await followPossibleOptOuts(tx, agentId, { timing, now });
      if (complete && scan !== null) await concludeSweep(tx, agentId, { begunAt, deepFrom: scan.deepFrom, now });
      return twice;
    });
    for (const twice of madeTwice) {
      deps.logger.error({ batchId: twice.batchId }, 'the service has made another batch of a request that it had answered');
      await takeAllBack(deps, { ...twice, now: serviceNow(clock) });
    }
    deps.sweepNews.tell(agentId, timing);
    const isComplete = complete && isReported;
    return { kind: isComplete ? 'complete' : 'incomplete', listed: scan !== null && scan.coveredFrom !== null, waitMs: 0 };
  } catch (error) {
    const waitMs = keepQuiet(deps, clock, error);
    deps.logger.warn({ agentId, error: codeOf(error) }, 'the list of conversations could not be read');
    if (!(error instanceof ServiceError)) throw error;
    return { kind: 'failed', listed: false, waitMs };
  } finally {
    renewal.stop();
    await releaseLease(deps.store, agentId, owner).catch(() => {});
  }
}
