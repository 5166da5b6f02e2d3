import type { RecordPage } from '../src/service/port/call-service.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import { unreadableId } from '../src/service/port/record-values.ts';
import type { CampaignRules } from '../src/rules/campaign-rules.ts';
import type { ConversationFacts } from '../src/rules/conversation-facts.ts';
import type { CorrelationClock } from '../src/rules/correlation/correlation.ts';
import { storeListed } from '../src/ledger/collect/listed-records.ts';
import { oldestCampaignStart } from '../src/ledger/collect/matching.ts';
import { noteReadSucceeded } from '../src/ledger/collect/sweeps.ts';
import type { AgentRecords } from '../src/ledger/doubt/agent-records.ts';
import { assumedClock, isBetterReading, readClock } from './watch-clocks.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';

const pageSize = 100;

export interface Sweep extends AgentRecords {
  deps: ActivityDependencies;
  clock: ServiceClock;
  agentId: string;
  timing: CampaignRules['timing'];
  /** Called after each page or record. */
  onStep: () => void;
}

export interface ListScan {
  /** All calls begun since then are in `listed`; null: not read as far as needed. */
  coveredFrom: number | null;
  /** As `coveredFrom`, when read as far as intended, not just to records already final. */
  deepFrom: number | null;
  listed: Set<string>;
  oldestSeen: number | null;
  ordered: boolean;
  clockReading: CorrelationClock;
}

function isNewestFirst({ records }: RecordPage, before: number | null): boolean {
  let previous = before ?? Infinity;
  for (const { startedAt } of records) {
    if (startedAt === null || startedAt > previous) return false;
    previous = startedAt;
  }
  return true;
}

/** Reads the agent's list, newest first, to its end, to `until`, or, unless `deep`, to a page of final records if in order. */
export async function walkList(
  { deps, clock, agentId, pointers, optOut, isShared, timing, onStep }: Sweep,
  until: number,
  deep: boolean,
): Promise<ListScan> {
  const scan: ListScan = {
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
    const from = cursor === undefined ? {} : { cursor };
    const page = await deps.service.records({ agentId, pageSize, ...from }, pointers);
    onStep();
    const now = serviceNow(clock);
    const reading = readClock(page.serviceDate, clock, deps.nowReal());
    if (reading !== undefined && isBetterReading(reading, scan.clockReading)) scan.clockReading = reading;
    const facts = factsOfPage(agentId, page);
    if (page.unusable.length > 0)
      deps.logger.warn({ agentId, entries: page.unusable.length }, 'the list holds entries that cannot be used');
    const { allFinal } = await deps.store.transaction(async (tx) => {
      await noteReadSucceeded(tx, agentId, now);
      const oldest = await oldestCampaignStart(tx, agentId, until);
      const { offsetMs, uncertaintyMs } = scan.clockReading;
      // To be excluded by age, a record must be older by more than the clocks may differ or have been set meanwhile.
      const oursSince = oldest === null ? null : oldest + offsetMs - uncertaintyMs - timing.lateLookbackMs;
      return storeListed(tx, facts, { agentId, oursSince, listens: optOut.length > 0, isShared, offsetMs, now });
    });
    scan.ordered &&= isNewestFirst(page, scan.oldestSeen);
    for (const { conversationId, startedAt } of facts) {
      scan.listed.add(conversationId);
      if (startedAt !== null) scan.oldestSeen = Math.min(scan.oldestSeen ?? Infinity, startedAt);
    }
    // In the service's time, with margin for the whole second in which a call may have begun.
    const horizon = until + scan.clockReading.offsetMs - scan.clockReading.uncertaintyMs - 2_000;
    const reachedUntil = scan.oldestSeen !== null && scan.oldestSeen < horizon;
    if (scan.ordered && (reachedUntil || (allFinal && !deep))) {
      scan.coveredFrom = scan.oldestSeen;
      if (reachedUntil) scan.deepFrom = until;
    } else if (page.hasMore !== true && page.nextCursor === null) {
      // A full page without a cursor proves nothing: the list may go on.
      if (page.hasMore === false || page.records.length < pageSize) [scan.coveredFrom, scan.deepFrom] = [until, 0];
    } else if (page.nextCursor !== null && !cursors.has(page.nextCursor)) {
      cursors.add(page.nextCursor);
      cursor = page.nextCursor;
      continue;
    }
    return scan;
  }
}

/**
 * Facts of all entries of a page; one without an id gets one derived from its facts, since it may belong to any recipient. Order
 * distinguishes identical entries.
 */
function factsOfPage(agentId: string, page: RecordPage): ConversationFacts[] {
  const seen = new Map<string, number>();
  return [...page.records, ...page.unusable].map((facts) => {
    if (facts.conversationId !== '') return facts;
    const traits = JSON.stringify([agentId, facts.startedAt, facts.calleeNumber, facts.batchId, facts.direction]);
    const nth = (seen.get(traits) ?? 0) + 1;
    seen.set(traits, nth);
    return { ...facts, conversationId: unreadableId(`${traits} ${nth}`) };
  });
}
