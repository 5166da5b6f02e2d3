import { randomUUID } from 'node:crypto';
import { factsFromListEntry, factsFromRecord } from '../src/convai/record-facts.ts';
import type { ConversationPage } from '../src/convai/client.ts';
import { ConvaiError, RateLimitedError } from '../src/convai/errors.ts';
import type { ServiceClock } from '../src/convai/service-clock.ts';
import type { CampaignRules } from '../src/domain/campaign-rules.ts';
import type { CorrelationClock } from '../src/domain/correlation/correlation.ts';
import {
  listDueReads,
  noteVanished,
  readOvertaken,
  storeRead,
  type ConversationRow,
} from '../src/ledger/doubt/conversations.ts';
import { storeListed } from '../src/ledger/collect/listed-records.ts';
import { concludeSweep } from '../src/ledger/collect/conclude.ts';
import { conclusionDueSince } from '../src/ledger/doubt/open-batches.ts';
import { matchRecords, oldestCampaignStart, oldestOpenPost } from '../src/ledger/collect/matching.ts';
import { lockOwner, refuseOtherOwner, settleFromRecord } from '../src/ledger/collect/record-results.ts';
import { lockCampaignsOf, type Queries } from '../src/ledger/open-ledger.ts';
import { followPossibleOptOuts } from '../src/ledger/doubt/possible-opt-outs.ts';
import { readAgentRecords, type AgentRecords } from '../src/ledger/doubt/agent-records.ts';
import { keepLease, leaseAgent, noteReadSucceeded, releaseLease } from '../src/ledger/collect/sweeps.ts';
import { noteUnreadable } from '../src/ledger/collect/unreadable.ts';
import { assumedClock, isBetterReading, readClock } from './clock-reading.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf } from './failures.ts';
import { factsOfPage } from './list-entries.ts';
import { longestSweepStepMs, startPulse } from './pulse.ts';
import { keepQuiet, quietTime } from './quiet-time.ts';
import { watchClocks } from './watch-clocks.ts';

const pageSize = 100;
const readsAtOnce = 8;
const readsPerSweep = 400;

export interface SweepResult {
  /** `busy`: another process sweeps this agent. `failed`: nothing could be read. */
  kind: 'complete' | 'incomplete' | 'failed' | 'busy';
  /** Real milliseconds that the service asked to be left alone. */
  waitMs: number;
}

/** Whose records are read, and how. */
interface Swept extends AgentRecords {
  agentId: string;
  timing: CampaignRules['timing'];
}

interface ListWalk {
  /** Everything that began since then is among `listed`; null: the list was not read as far as needed. */
  coveredFrom: number | null;
  /** The same where it was read as far as it was to be, and not only to records that had been final before. */
  deepFrom: number | null;
  listed: Set<string>;
  /** Start of the oldest entry seen. */
  oldestSeen: number | null;
  ordered: boolean;
  clockReading: CorrelationClock;
}

function isNewestFirst(page: ConversationPage, before: number | null): boolean {
  let previous = before ?? Infinity;
  for (const entry of page.conversations) {
    const { startedAt } = factsFromListEntry(entry);
    if (startedAt === null || startedAt > previous) return false;
    previous = startedAt;
  }
  return true;
}

/**
 * Reads the agent's list from its newest entry back to `until`. The walk is complete when it reached the end, `until`, or, unless
 * `deep`, a page of records that are all final already, in a list that has shown itself to be newest-first.
 */
async function walkList(
  deps: ActivityDependencies,
  clock: ServiceClock,
  { agentId, pointers, optOut, timing }: Swept,
  until: number,
  deep: boolean,
  onPage: () => void,
): Promise<ListWalk> {
  const walk: ListWalk = {
    coveredFrom: null,
    deepFrom: null,
    listed: new Set(),
    oldestSeen: null,
    ordered: true,
    clockReading: assumedClock,
  };
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const page = await deps.client.listConversationsPage({
      agentId,
      pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    onPage();
    const now = serviceNow(clock);
    const reading = readClock(page.serviceDate, clock, deps.nowReal());
    if (reading !== undefined && isBetterReading(reading, walk.clockReading)) walk.clockReading = reading;
    const facts = factsOfPage(agentId, page, pointers);
    if (page.unusable.length > 0)
      deps.logger.warn({ agentId, entries: page.unusable.length }, 'the list holds entries that cannot be used');
    const { allFinal } = await deps.store.transaction(async (tx) => {
      await noteReadSucceeded(tx, agentId, now);
      const oldest = await oldestCampaignStart(tx, agentId, until);
      const { offsetMs, uncertaintyMs } = walk.clockReading;
      // What is excluded by its age must be older by more than the clocks may differ, or may have been set meanwhile.
      const oursSince = oldest === null ? null : oldest + offsetMs - uncertaintyMs - timing.lateLookbackMs;
      return storeListed(tx, agentId, facts, { oursSince, listens: optOut.length > 0, offsetMs }, now);
    });
    walk.ordered &&= isNewestFirst(page, walk.oldestSeen);
    for (const { conversationId, startedAt } of facts) {
      walk.listed.add(conversationId);
      if (startedAt !== null) walk.oldestSeen = Math.min(walk.oldestSeen ?? Infinity, startedAt);
    }
    // In the service's own time, and past the whole second in which a call may have begun.
    const horizon = until + walk.clockReading.offsetMs - walk.clockReading.uncertaintyMs - 2_000;
    const reachedUntil = walk.oldestSeen !== null && walk.oldestSeen < horizon;
    if (walk.ordered && (reachedUntil || (allFinal && !deep))) {
      walk.coveredFrom = walk.oldestSeen;
      if (reachedUntil) walk.deepFrom = until;
    } else if (page.hasMore !== true && page.nextCursor === null) {
      // A full page that names no cursor may be the whole list or a list that cannot be read on.
      if (page.hasMore === false || page.conversations.length < pageSize)
        [walk.coveredFrom, walk.deepFrom] = [until, 0];
    } else if (page.nextCursor !== null && !cursors.has(page.nextCursor)) {
      cursors.add(page.nextCursor);
      cursor = page.nextCursor;
      continue;
    }
    return walk;
  }
}

const missingPatienceMs = 60_000;

/**
 * How long a record whose read failed in this way is tried again before it counts as gone; null: the fault is not the record's own.
 * A record that was listed a moment ago may not be there for every reader yet; one on which the service fails for a day never will be.
 */
function patienceWith(error: unknown): number | null {
  if (!(error instanceof ConvaiError) || !('status' in error) || typeof error.status !== 'number') return null;
  if ([401, 403, 408, 425, 429].includes(error.status)) return null;
  return error.status === 404 ? missingPatienceMs : 24 * 3_600_000;
}

async function readOne(
  deps: ActivityDependencies,
  clock: ServiceClock,
  { agentId, pointers, optOut, timing }: Swept,
  offsetMs: number,
  conversationId: string,
): Promise<void> {
  let row: ConversationRow;
  try {
    const record = await deps.client.getConversation(conversationId);
    const facts = factsFromRecord(record, agentId, pointers);
    row = await deps.store.transaction(async (tx) => {
      const owner = await lockOwner(tx, deps.store, conversationId);
      const now = serviceNow(clock);
      const { analysisWaitMs, ringLimitMs } = timing;
      const stored = await storeRead(tx, conversationId, facts, { analysisWaitMs, ringLimitMs, optOut, offsetMs }, now);
      refuseOtherOwner(stored, owner);
      await settleFromRecord(tx, stored, now, stored.becameFinal);
      return stored;
    });
  } catch (error) {
    const patienceMs = patienceWith(error);
    if (patienceMs === null) throw error;
    const gone = await deps.store.transaction(async (tx) => {
      const owner = await lockOwner(tx, deps.store, conversationId);
      const now = serviceNow(clock);
      const stored = await noteUnreadable(tx, conversationId, patienceMs, now);
      if (stored === undefined) return undefined;
      refuseOtherOwner(stored, owner);
      await settleFromRecord(tx, stored, now, true);
      return stored;
    });
    // It stays a record that may be anybody's; the others are read all the same.
    if (gone === undefined)
      return deps.logger.warn({ conversationId, error: codeOf(error) }, 'a record cannot be read');
    row = gone;
  }
  deps.logger.debug({ conversationId, attemptId: row.attempt_id, final: row.final }, 'conversation read');
}

/** Reads what is due, several at once. Answers false when a read failed; the others are kept. */
async function readDue(
  deps: ActivityDependencies,
  clock: ServiceClock,
  swept: Swept,
  unownedSince: number | null,
  offsetMs: number,
  onRead: () => void,
): Promise<boolean> {
  const due = await listDueReads(deps.store.db, swept.agentId, serviceNow(clock), unownedSince, readsPerSweep);
  let ok = due.length < readsPerSweep;
  let failure: unknown;
  const queue = due.values();
  const work = async () => {
    for (const conversationId of queue) {
      if (failure !== undefined) return;
      try {
        await readOne(deps, clock, swept, offsetMs, conversationId);
        onRead();
      } catch (error) {
        ok = false;
        if (error instanceof RateLimitedError) failure = error;
        deps.logger.warn({ conversationId, error: codeOf(error) }, 'a conversation could not be read');
      }
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, work));
  if (failure !== undefined) throw failure;
  return ok;
}

/**
 * One sweep of an agent's list, for all campaigns that use it: stores what it saw, reads what is due, matches, settles, and, only
 * when it was complete, concludes from what is missing.
 */
export async function sweepAgent(
  deps: ActivityDependencies,
  clock: ServiceClock,
  agentId: string,
  timing: CampaignRules['timing'],
  onProgress: () => void,
): Promise<SweepResult> {
  const quietMs = quietTime(deps);
  if (quietMs > 0) return { kind: 'failed', waitMs: quietMs };
  const { leaseMs } = deps.limits;
  // Not the worker's name alone: campaigns of one worker may have the same agent.
  const owner = `${deps.workerId}/${randomUUID()}`;
  if (!(await leaseAgent(deps.store, agentId, owner, leaseMs))) return { kind: 'busy', waitMs: 0 };
  const keep = (tx: Queries) => keepLease(tx, deps.store, agentId, owner, leaseMs);
  const longestStepMs = longestSweepStepMs(deps.limits);
  const renewal = startPulse(() => void keep(deps.store.db).catch(() => {}), { everyMs: leaseMs / 3, longestStepMs });
  const onStep = () => {
    renewal.step();
    onProgress();
  };
  const begunAt = serviceNow(clock);
  try {
    const openSince = await oldestOpenPost(deps.store.db, agentId);
    const dueSince = await conclusionDueSince(deps.store.db, agentId, begunAt);
    const until = Math.min(openSince ?? begunAt, begunAt - timing.lateLookbackMs, dueSince ?? begunAt);
    const unownedSince = dueSince === null ? null : until;
    const swept = { agentId, timing, ...(await readAgentRecords(deps.store.db, agentId)) };
    const read = (offsetMs: number) => readDue(deps, clock, swept, unownedSince, offsetMs, onStep);
    let walk: ListWalk;
    try {
      walk = await walkList(deps, clock, swept, until, dueSince !== null, onStep);
    } catch (error) {
      // The list of an agent that was deleted is refused for ever; records that are known can still be read one by one.
      if (patienceWith(error) === missingPatienceMs) await read(assumedClock.offsetMs);
      throw error;
    }
    let complete = walk.coveredFrom !== null;
    if (walk.coveredFrom !== null) {
      const span = { from: walk.coveredFrom, to: begunAt };
      const now = serviceNow(clock);
      if ((await deps.store.transaction((tx) => noteVanished(tx, agentId, span, walk.listed, now))) > 0)
        complete = false;
    }
    if (!(await read(walk.clockReading.offsetMs))) complete = false;
    // Before anything is concluded: what was open while a clock was set ends in nothing negative.
    await watchClocks(deps, clock, timing.clockToleranceMs);
    await deps.store.transaction(async (tx) => {
      if (!(await keep(tx))) {
        complete = false;
        return;
      }
      await lockCampaignsOf(tx, deps.store, agentId);
      const now = serviceNow(clock);
      if (walk.ordered && walk.oldestSeen !== null) await readOvertaken(tx, agentId, walk.oldestSeen, now);
      await matchRecords(tx, deps.store, agentId, walk.clockReading, until, timing, now);
      await followPossibleOptOuts(tx, agentId, timing, now);
      if (complete) await concludeSweep(tx, deps.store, agentId, { begunAt, deepFrom: walk.deepFrom }, now);
    });
    return { kind: complete ? 'complete' : 'incomplete', waitMs: 0 };
  } catch (error) {
    const waitMs = keepQuiet(deps, clock, error);
    deps.logger.warn({ agentId, error: codeOf(error) }, 'the list of conversations could not be read');
    if (!isServiceFault(error)) throw error;
    return { kind: 'failed', waitMs };
  } finally {
    renewal.stop();
    await releaseLease(deps.store, agentId, owner).catch(() => {});
  }
}

function isServiceFault(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'knowledge' in error;
}
