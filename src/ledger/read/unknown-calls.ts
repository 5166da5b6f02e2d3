import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { requestTitle } from '../../rules/ids.ts';
import { readInParts } from '../parts.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries, Store } from '../tx.ts';

/** From the service's list. Instants are on its clock, uncorrected. */
export type ListedCall = Pick<ConversationFacts, 'conversationId' | 'direction' | 'startedAt' | 'calleeNumber' | 'references'>;

export interface RecordedCall extends ListedCall {
  /** Not from a batch of this database, unless it names one of its calls. */
  isElsewhere: boolean;
}

interface OpenCall {
  attempt_id: string;
  e164: string;
  posted_at: number | null;
}

/** Most time by which a record may be dated before its request, and a call begin after it. */
const beforeMs = 5 * 60_000;
const afterMs = 2 * 3_600_000;

/**
 * Conversations since the campaign's last request that match no call of this database: ids, oldest first. In a restored database these are
 * the lost calls; else there are none, unless others use the agent. `readRecord` serves to leave out calls of others. Read-only.
 */
export async function findUnknownCalls(
  { db, ledgerId }: Pick<Store, 'db' | 'ledgerId'>,
  campaign: Campaign,
  entries: AsyncIterable<ListedCall>,
  readRecord: ((conversationId: string) => Promise<RecordedCall>) | null = null,
): Promise<string[]> {
  const { campaignId, createdAt, rules } = campaign;
  const requests = db.selectFrom('attempts').where('campaign_id', '=', campaignId);
  const { last } = await requests.select((eb) => eb.fn.max<number | null>('posted_at').as('last')).executeTakeFirstOrThrow();
  const since = (last ?? createdAt) - beforeMs;
  const late: ListedCall[] = [];
  for await (const entry of entries) if (entry.direction !== 'inbound' && (entry.startedAt ?? since) >= since) late.push(entry);
  const known = await readInParts(
    late.map(({ conversationId }) => conversationId),
    (ids) => db.selectFrom('attempts').select('conversation_id').where('conversation_id', 'in', ids).execute(),
  );
  const owned = new Set(known.map((row) => row.conversation_id));
  const free = await readOpenCalls(db, rules.agentId, since - afterMs);
  const unowned: (ListedCall & Partial<RecordedCall>)[] = [];
  for (const entry of late) if (!owned.has(entry.conversationId)) unowned.push((await readRecord?.(entry.conversationId)) ?? entry);
  const listed = await readInParts([...new Set(unowned.flatMap(({ calleeNumber }) => calleeNumber ?? []))], (numbers) =>
    db.selectFrom('recipients').select('e164').where('campaign_id', '=', campaignId).where('e164', 'in', numbers).execute(),
  );
  const ours = new Set(listed.map((row) => row.e164));
  const unknown: string[] = [];
  for (const entry of unowned.toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0))) {
    const named = entry.references.find((text) => text.startsWith(`${ledgerId}:`))?.slice(ledgerId.length + 1);
    const { calleeNumber } = entry;
    // A call to a number outside the list is not this campaign's.
    if (named === undefined && (entry.isElsewhere === true || (calleeNumber !== null && !ours.has(calleeNumber)))) continue;
    const index = free.findIndex((call) => mayBe(call, entry, named));
    if (index === -1) unknown.push(entry.conversationId);
    else free.splice(index, 1);
  }
  return unknown;
}

/**
 * The service's batches that carry this database's mark but are unknown to it: titles with ids. Only a restored database has any.
 * Read-only.
 */
export async function findUnknownBatches(
  { db, ledgerId }: Pick<Store, 'db' | 'ledgerId'>,
  batches: AsyncIterable<{ id: string; name: string }>,
): Promise<string[]> {
  const titles = new Map<string, string>();
  for await (const { id, name } of batches) {
    const [, title, mark] = /^(.+) · (\S+)$/.exec(name) ?? [];
    if (mark !== undefined && title?.startsWith(requestTitle(ledgerId, '')) === true)
      titles.set(mark, `${title.slice(ledgerId.length + 1)} (${id})`);
  }
  const known = await readInParts([...titles.keys()], (marks) =>
    db.selectFrom('posts').select('entry').where('entry', 'in', marks).execute(),
  );
  for (const { entry } of known) titles.delete(entry ?? '');
  return [...titles.values()];
}

function mayBe(call: OpenCall, { startedAt, calleeNumber }: ListedCall, named: string | undefined): boolean {
  if (named !== undefined) return call.attempt_id === named;
  if (calleeNumber !== null && call.e164 !== calleeNumber) return false;
  const postedAt = call.posted_at ?? 0;
  return startedAt === null || (startedAt >= postedAt - beforeMs && startedAt <= postedAt + afterMs);
}

/** Requested calls without a record, oldest first, of every campaign of the agent. */
async function readOpenCalls(db: Queries, agentId: string, since: number): Promise<OpenCall[]> {
  const open = db.selectFrom('attempts').select(['attempt_id', 'e164', 'posted_at']).where('agent_id', '=', agentId);
  const late = open.where('posted_at', '>=', since).where('conversation_id', 'is', null);
  return late.orderBy('posted_at').orderBy('attempt_id').execute();
}
