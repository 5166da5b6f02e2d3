import type { Queries } from '../ledger/tx.ts';
import type { ServiceBatches } from './judge-batches.ts';
import type { Difference } from './log-rules.ts';
import type { LogAudit } from './fold.ts';
import { disownedBy, namedBy } from './judge-record.ts';
import { chunksOf, readOwners, readPostSpans, readServiceBatches, readUnmatched } from './reader.ts';

/** An entry of the service's list, as far as it says these things. Instants are epoch milliseconds. */
export interface ListedConversation {
  conversationId: string;
  inbound: boolean;
  startedAt: number | null;
  calleeNumber: string | null;
  batchId: string | null;
  references: readonly string[];
}

/** Reads the service; `list` yields the conversations of an agent in the service's order. It only ever asks. */
export interface ServiceList {
  /** The account that it belongs to; campaigns of others are left out. */
  accountId: string;
  list(agentId: string): AsyncIterable<ListedConversation>;
  /** Where it says itself what became of batches. */
  batches?: ServiceBatches;
}

const mostNamed = 20;
/** A record may be dated so long before the request that it follows from, and a call may begin so long after it. */
const beforeMs = 5 * 60_000;
const afterMs = 2 * 3_600_000;

/**
 * Compares the service's own list with what belongs to our calls. A record that names one of our calls and belongs to none was ignored;
 * one that may be a call without a record is named for a person to look at: calls that are not ours are normal.
 */
export async function judgeList(
  db: Queries,
  judge: LogAudit,
  service: ServiceList,
): Promise<{ differences: Omit<Difference, 'table' | 'id'>[]; notes: string[] }> {
  const differences: Omit<Difference, 'table' | 'id'>[] = [];
  const notes: string[] = [];
  for (const { agentId, from } of await readPostSpans(db, service.accountId)) {
    const possible: string[] = [];
    let listed = 0;
    try {
      for await (const page of chunksOf(service.list(agentId))) {
        listed += page.length;
        const owners = await readOwners(
          db,
          page.map(({ conversationId }) => conversationId),
        );
        for (const entry of page) {
          const owner = owners.get(entry.conversationId);
          const against = owner === undefined ? null : disownedBy(judge, entry, owner);
          if (owner === undefined || against === null) continue;
          const what = `conversation ${entry.conversationId} of the service belongs to call ${owner.attempt_id}, and ${against}`;
          differences.push({ campaignId: owner.campaign_id, rule: 'record_ignored', what });
        }
        const unowned = page.filter(({ conversationId, inbound }) => !owners.has(conversationId) && !inbound);
        const ours = await readServiceBatches(
          db,
          unowned.flatMap(({ batchId }) => batchId ?? []),
        );
        for (const entry of unowned) {
          const attemptId = namedBy(judge, entry.references);
          const batch = ours.get(entry.batchId ?? '');
          const campaignId = batch?.campaignId ?? campaignOf(judge, attemptId);
          if (campaignId !== null) {
            const names = attemptId ?? `a call of batch ${batch?.batchId}`;
            const what = `conversation ${entry.conversationId} of the service names ${names}, and belongs to no call`;
            differences.push({ campaignId, rule: 'record_ignored', what });
          } else if (await mayBeOurs(db, agentId, entry, from)) possible.push(entry.conversationId);
        }
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      notes.push(`The service's list of agent ${agentId} was not judged: ${why}`);
      continue;
    }
    notes.push(`The service lists ${listed} conversations of agent ${agentId}.`);
    if (possible.length === 0) continue;
    const named = possible.slice(0, mostNamed).join(', ');
    const more = possible.length > mostNamed ? ` and ${possible.length - mostNamed} more` : '';
    notes.push(`Of these ${possible.length} belong to nobody and may be calls of ours without a record: ${named}${more}.`);
  }
  return { differences, notes };
}

function campaignOf({ campaigns }: LogAudit, attemptId: string | undefined): string | null {
  const campaignId = attemptId?.split('/')[0];
  return campaignId !== undefined && campaigns.has(campaignId) ? campaignId : null;
}

/** Whether a call that owns no record was posted at a time from which this one may be, to this number as far as it says. */
async function mayBeOurs(db: Queries, agentId: string, { startedAt, calleeNumber }: ListedConversation, from: number): Promise<boolean> {
  if (startedAt !== null && startedAt < from - beforeMs) return false;
  const span = startedAt === null ? null : { from: startedAt - afterMs, to: startedAt + beforeMs };
  return readUnmatched(db, agentId, span, calleeNumber);
}
