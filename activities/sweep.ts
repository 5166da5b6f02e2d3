import { randomUUID } from 'node:crypto';
import { factsFromListEntry, factsFromRecord } from '../src/convai/record-facts.ts';
import type { ConversationPage } from '../src/convai/client.ts';
import { ConvaiError, RateLimitedError } from '../src/convai/errors.ts';
import type { ServiceClock } from '../src/convai/service-clock.ts';
import type { CampaignRules } from '../src/domain/campaign-rules.ts';
import type { RecordPointers } from '../src/domain/conversation-facts.ts';
import type { CorrelationClock } from '../src/domain/correlation.ts';
import {
  listDueReads,
  noteVanished,
  readOvertaken,
  storeListed,
  storeRead,
  type ConversationRow,
} from '../src/store/conversations.ts';
import { lockOwner, matchRecords, oldestUnmatchedPost, settleFromRecord } from '../src/store/matching.ts';
import { lockCampaignsOf, type Queries } from '../src/store/open-store.ts';
import { readPointers } from '../src/store/record-pointers.ts';
import {
  concludeSweep,
  conclusionDueSince,
  keepLease,
  leaseAgent,
  noteReadSucceeded,
  releaseLease,
} from '../src/store/sweeps.ts';
import { noteUnreadable } from '../src/store/unreadable.ts';
import { assumedClock, isBetterReading, readClock } from './clock-reading.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf } from './failures.ts';

const pageSize = 100;
const readsAtOnce = 8;
const readsPerSweep = 400;
/** Until when (monotonic clock) the service asked this process to leave its records alone, per client. */
const quietUntil = new WeakMap<ActivityDependencies['client'], number>();
/** A clock may have been set back by as much between a POST and the sweep that looks for its records. */
const clockStepMs = 60_000;

export interface SweepResult {
  /** `busy`: another process sweeps this agent. `failed`: nothing could be read. */
  kind: 'complete' | 'incomplete' | 'failed' | 'busy';
  /** Real milliseconds that the service asked to be left alone. */
  waitMs: number;
}

/** Whose records are read, and how. */
interface Swept {
  agentId: string;
  pointers: RecordPointers;
  analysisWaitMs: number;
}

interface ListWalk {
  /** Everything that began since then is among `listed`; null: the list was not read as far as needed. */
  coveredFrom: number | null;
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
  { agentId, pointers }: Swept,
  until: number,
  deep: boolean,
  onPage: () => void,
): Promise<ListWalk> {
  const walk: ListWalk = {
    coveredFrom: null,
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
    const facts = page.conversations.map((entry) => factsFromListEntry(entry, pointers));
    const { allFinal } = await deps.store.transaction(async (tx) => {
      await noteReadSucceeded(tx, agentId, now);
      // Asked after the page was read: the POST of whatever it shows was committed before. What is excluded by its age must be older
      // by more than the clocks may differ.
      const oldest = await oldestUnmatchedPost(tx, agentId, until);
      const since =
        oldest === null ? null : oldest + walk.clockReading.offsetMs - walk.clockReading.uncertaintyMs - clockStepMs;
      return storeListed(tx, agentId, facts, since, now);
    });
    walk.ordered &&= isNewestFirst(page, walk.oldestSeen);
    for (const { conversationId, startedAt } of facts) {
      walk.listed.add(conversationId);
      if (startedAt !== null) walk.oldestSeen = Math.min(walk.oldestSeen ?? Infinity, startedAt);
    }
    // In the service's own time, and past the whole second in which a call may have begun.
    const horizon = until + walk.clockReading.offsetMs - walk.clockReading.uncertaintyMs - 2_000;
    const reachedUntil = walk.oldestSeen !== null && walk.oldestSeen < horizon;
    if (walk.ordered && (reachedUntil || (allFinal && !deep))) walk.coveredFrom = walk.oldestSeen;
    else if (page.hasMore !== true && page.nextCursor === null) {
      // A full page that names no cursor may be the whole list or a list that cannot be read on.
      if (page.hasMore === false || page.conversations.length < pageSize) walk.coveredFrom = until;
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
  { agentId, pointers, analysisWaitMs }: Swept,
  conversationId: string,
): Promise<void> {
  let row: ConversationRow;
  try {
    const record = await deps.client.getConversation(conversationId);
    const facts = factsFromRecord(record, agentId, pointers);
    row = await deps.store.transaction(async (tx) => {
      await lockOwner(tx, deps.store, conversationId);
      const now = serviceNow(clock);
      const stored = await storeRead(tx, conversationId, facts, analysisWaitMs, now);
      await settleFromRecord(tx, stored, now, stored.becameFinal);
      return stored;
    });
  } catch (error) {
    const patienceMs = patienceWith(error);
    if (patienceMs === null) throw error;
    const gone = await deps.store.transaction(async (tx) => {
      await lockOwner(tx, deps.store, conversationId);
      const now = serviceNow(clock);
      const stored = await noteUnreadable(tx, conversationId, patienceMs, now);
      if (stored !== undefined) await settleFromRecord(tx, stored, now, true);
      return stored;
    });
    if (gone === undefined) throw error;
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
        await readOne(deps, clock, swept, conversationId);
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
  const quietMs = (quietUntil.get(deps.client) ?? 0) - deps.monotonicMs();
  if (quietMs > 0) return { kind: 'failed', waitMs: quietMs };
  const { leaseMs } = deps.limits;
  // Not the worker's name alone: campaigns of one worker may have the same agent.
  const owner = `${deps.workerId}/${randomUUID()}`;
  if (!(await leaseAgent(deps.store, agentId, owner, deps.nowReal(), leaseMs))) return { kind: 'busy', waitMs: 0 };
  const keep = (tx: Queries) => keepLease(tx, agentId, owner, deps.nowReal(), leaseMs);
  const renewal = setInterval(() => void keep(deps.store.db).catch(() => {}), leaseMs / 3);
  const begunAt = serviceNow(clock);
  try {
    const openSince = await oldestUnmatchedPost(deps.store.db, agentId, 0, true);
    const until = Math.min(openSince ?? begunAt, begunAt - timing.lateLookbackMs);
    const dueSince = await conclusionDueSince(deps.store.db, agentId, begunAt);
    const unownedSince = dueSince === null ? null : Math.min(until, dueSince);
    const pointers = await readPointers(deps.store.db, agentId);
    const swept = { agentId, pointers, analysisWaitMs: timing.analysisWaitMs };
    const read = () => readDue(deps, clock, swept, unownedSince, onProgress);
    let walk: ListWalk;
    try {
      walk = await walkList(deps, clock, swept, until, dueSince !== null, onProgress);
    } catch (error) {
      // The list of an agent that was deleted is refused for ever; records that are known can still be read one by one.
      if (patienceWith(error) === missingPatienceMs) await read();
      throw error;
    }
    let complete = walk.coveredFrom !== null;
    if (walk.coveredFrom !== null) {
      const span = { from: walk.coveredFrom, to: begunAt };
      const now = serviceNow(clock);
      if ((await deps.store.transaction((tx) => noteVanished(tx, agentId, span, walk.listed, now))) > 0)
        complete = false;
    }
    if (!(await read())) complete = false;
    await deps.store.transaction(async (tx) => {
      if (!(await keep(tx))) {
        complete = false;
        return;
      }
      await lockCampaignsOf(tx, deps.store, agentId);
      const now = serviceNow(clock);
      if (walk.ordered && walk.oldestSeen !== null) await readOvertaken(tx, agentId, walk.oldestSeen, now);
      await matchRecords(tx, deps.store, agentId, walk.clockReading, until, now);
      if (complete) await concludeSweep(tx, deps.store, agentId, begunAt, now);
    });
    return { kind: complete ? 'complete' : 'incomplete', waitMs: 0 };
  } catch (error) {
    const waitMs =
      error instanceof RateLimitedError && error.retryAfterMs !== null ? clock.toRealMs(error.retryAfterMs) : 0;
    deps.logger.warn({ agentId, error: codeOf(error) }, 'the list of conversations could not be read');
    if (!isServiceFault(error)) throw error;
    if (waitMs > 0) quietUntil.set(deps.client, deps.monotonicMs() + waitMs);
    return { kind: 'failed', waitMs };
  } finally {
    clearInterval(renewal);
    await releaseLease(deps.store, agentId, owner).catch(() => {});
  }
}

function isServiceFault(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'knowledge' in error;
}
