import { readRules } from '../../rules/campaign-rules.ts';
import type { ConversationFacts, RecordPointers } from '../../rules/conversation-facts.ts';
import { isSameService } from '../../rules/service-api.ts';
import { readAgentRecords } from '../doubt/agent-records.ts';
import { storeSent } from '../doubt/conversations.ts';
import { storeListed } from './listed-records.ts';
import { oldestCampaignStart } from './matching.ts';
import { settleRead } from './record-results.ts';
import type { Store } from '../tx.ts';

/** `not_asked_for`: no campaign under way here wants the record. */
export type Taken = 'stored' | 'nothing_new' | 'not_asked_for';

interface Sent {
  accountId: string;
  agentId: string;
  conversationId: string;
  /** When the record was in this state; service time. */
  at: number;
  now: () => number;
}

/** Date headers have whole seconds, and a pushed record has none. */
const clocksApartMs = 2_000;

/** Timing of the campaigns under way that would read it. Empty if one uses another service: only its sweep identifies the owner. */
async function readAskers({ db }: Store, { agentId, accountId }: Pick<Sent, 'agentId' | 'accountId'>) {
  const rows = await db
    .selectFrom('campaigns')
    .select(['rules', 'account_id'])
    .where('agent_id', '=', agentId)
    .where('state', 'in', ['running', 'paused', 'draining'])
    .execute();
  return rows.every((row) => isSameService(row.account_id, accountId)) ? rows.map(({ rules }) => readRules(rules).timing) : [];
}

/**
 * Stores a pushed record like a read at `at`; if not listed yet, as if listed. A final one stays. `read`: facts for the campaigns'
 * pointers.
 */
export async function takeSentRecord(
  store: Store,
  { accountId, agentId, conversationId, at, now, read }: Sent & { read: (pointers: RecordPointers) => ConversationFacts },
): Promise<Taken> {
  const timings = await readAskers(store, { agentId, accountId });
  if (timings.length === 0) return 'not_asked_for';
  const { pointers, optOut } = await readAgentRecords(store.db, agentId);
  const facts = read(pointers);
  const lateLookbackMs = Math.max(...timings.map((timing) => timing.lateLookbackMs));
  // In its own transaction, before the locks that a read takes.
  const isKnown = await store.transaction(async (tx) => {
    const known = tx.selectFrom('conversations').select('agent_id').where('conversation_id', '=', conversationId);
    const row = await known.executeTakeFirst();
    if (row !== undefined) return row.agent_id === agentId;
    const time = now();
    const oldest = await oldestCampaignStart(tx, agentId, time - lateLookbackMs);
    const oursSince = oldest === null ? null : oldest - clocksApartMs - lateLookbackMs;
    const isForeign = oursSince === null || (facts.startedAt !== null && facts.startedAt < oursSince);
    if (isForeign || (facts.direction === 'inbound' && optOut.length === 0)) return false;
    await storeListed(tx, [facts], { agentId, oursSince, listens: optOut.length > 0, offsetMs: 0, now: time, isSent: true });
    return true;
  });
  if (!isKnown) return 'not_asked_for';
  const analysisWaitMs = Math.max(...timings.map((timing) => timing.analysisWaitMs));
  const ringLimitMs = Math.min(...timings.map((timing) => timing.ringLimitMs));
  const reading = { facts, analysisWaitMs, ringLimitMs, optOut, offsetMs: 0 };
  const row = await store.transaction((tx) =>
    settleRead(tx, conversationId, {
      clock: now,
      // As of the push: lateness must not count as waiting for results.
      write: (time) => storeSent(tx, conversationId, { ...reading, now: Math.min(at, time) }),
    }),
  );
  return row === undefined ? 'nothing_new' : 'stored';
}

/** Pushed without a record: the recipient was not reached. A known, unread record is read with the next sweep. */
export async function hastenRead(store: Store, sent: Omit<Sent, 'at'>): Promise<Taken> {
  if ((await readAskers(store, sent)).length === 0) return 'not_asked_for';
  const time = sent.now();
  const { numUpdatedRows } = await store.db
    .updateTable('conversations')
    .set({ next_read_at: time })
    .where('conversation_id', '=', sent.conversationId)
    .where('agent_id', '=', sent.agentId)
    .where('final', '=', 0)
    .where('reads', '=', 0)
    .where('next_read_at', '>', time)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? 'stored' : 'nothing_new';
}
