import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { readInParts } from '../parts.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Store } from '../open-ledger.ts';
import type { Queries } from '../tx.ts';

/** An entry of the service's list. Instants are on the service's clock, not corrected. */
export type ListedCall = Pick<ConversationFacts, 'conversationId' | 'direction' | 'startedAt' | 'calleeNumber' | 'references'>;

interface OpenCall {
  attempt_id: string;
  e164: string;
  posted_at: number | null;
}

/** A record may be dated so long before the request that it follows from, and a call may begin so long after it. */
const beforeMs = 5 * 60_000;
const afterMs = 2 * 3_600_000;

/**
 * Conversations that began since the campaign's last request and that no call of this database accounts for: ids, oldest first. In a
 * database that was set back these are the calls that it has lost; in one that was kept there are none, unless others use the agent.
 * Only asks.
 */
export async function findUnknownCalls(
  { db, ledgerId }: Pick<Store, 'db' | 'ledgerId'>,
  campaign: Campaign,
  entries: AsyncIterable<ListedCall>,
): Promise<string[]> {
  const { agentId } = campaign.rules;
  const since = ((await lastPostedAt(db, campaign.campaignId)) ?? campaign.createdAt) - beforeMs;
  const late: ListedCall[] = [];
  for await (const entry of entries) if (entry.direction !== 'inbound' && (entry.startedAt ?? since) >= since) late.push(entry);
  const owned = await readOwned(db, late);
  const free = await readOpenCalls(db, agentId, since - afterMs);
  const ours = await readListed(db, campaign.campaignId, late);
  const unknown: string[] = [];
  const unowned = late.filter(({ conversationId }) => !owned.has(conversationId));
  for (const entry of unowned.toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0))) {
    const named = entry.references.find((text) => text.startsWith(`${ledgerId}:`))?.slice(ledgerId.length + 1);
    const { calleeNumber } = entry;
    // A call to somebody who is not in the list is none of this campaign's.
    if (named === undefined && calleeNumber !== null && !ours.has(calleeNumber)) continue;
    const index = free.findIndex((call) => mayBe(call, entry, named));
    if (index === -1) unknown.push(entry.conversationId);
    else free.splice(index, 1);
  }
  return unknown;
}

function mayBe(call: OpenCall, { startedAt, calleeNumber }: ListedCall, named: string | undefined): boolean {
  if (named !== undefined) return call.attempt_id === named;
  if (calleeNumber !== null && call.e164 !== calleeNumber) return false;
  const postedAt = call.posted_at ?? 0;
  return startedAt === null || (startedAt >= postedAt - beforeMs && startedAt <= postedAt + afterMs);
}

async function lastPostedAt(db: Queries, campaignId: string): Promise<number | null> {
  const { last } = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.max('posted_at').as('last'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirstOrThrow();
  return last;
}

async function readOwned(db: Queries, entries: readonly ListedCall[]): Promise<Set<string>> {
  const rows = await readInParts(
    entries.map(({ conversationId }) => conversationId),
    (ids) => db.selectFrom('attempts').select('conversation_id').where('conversation_id', 'in', ids).execute(),
  );
  return new Set(rows.map((row) => row.conversation_id ?? ''));
}

/** Calls that were requested and have no record yet, oldest first, whichever campaign of the agent they are of. */
async function readOpenCalls(db: Queries, agentId: string, since: number): Promise<OpenCall[]> {
  return db
    .selectFrom('attempts')
    .select(['attempt_id', 'e164', 'posted_at'])
    .where('agent_id', '=', agentId)
    .where('posted_at', '>=', since)
    .where('conversation_id', 'is', null)
    .orderBy('posted_at')
    .orderBy('attempt_id')
    .execute();
}

/** Which of the numbers stand in the campaign's list. */
async function readListed(db: Queries, campaignId: string, entries: readonly ListedCall[]): Promise<Set<string>> {
  const numbers = [...new Set(entries.flatMap(({ calleeNumber }) => calleeNumber ?? []))];
  const rows = await readInParts(numbers, (part) =>
    db.selectFrom('recipients').select('e164').where('campaign_id', '=', campaignId).where('e164', 'in', part).execute(),
  );
  return new Set(rows.map((row) => row.e164 ?? ''));
}
