import type { Insertable } from 'kysely';
import type { Database } from '../../src/ledger/schema.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { conversationRecord } from '../rules/conversation-record.ts';
import { agentId, noon } from './scenario.ts';

/** Writes a call that no campaign has made: the first of the first row of a campaign, open since noon. */
export async function insertAttempt({ db }: Store, own: Partial<Insertable<Database['attempts']>> & { attempt_id: string }): Promise<void> {
  const place = { recipient_id: own.attempt_id, campaign_id: 'spring', batch_id: 'spring/1/1', position: 0, number: 1 };
  const call = { agent_id: agentId, e164: '+12125550101', state: 'open' as const, planned_at: noon, posted_at: noon, counted: 0 };
  await db.insertInto('attempts').values({ ...place, ...call, ...own }).execute(); // prettier-ignore
}

/** Writes a record that no sweep has listed: of nobody, and unread. */
export async function insertRecord({ db }: Store, id: string, own: Partial<Insertable<Database['conversations']>> = {}): Promise<void> {
  const record = {
    conversation_id: id,
    agent_id: agentId,
    facts: JSON.stringify(conversationRecord()),
    first_seen_at: noon,
    started_at: noon,
  };
  const unread = { finished: 0, final: 0, gone: 0, reads: 0, unchanged_reads: 0, next_read_at: noon + 3_600_000 };
  await db.insertInto('conversations').values({ ...record, ...unread, ...own }).execute(); // prettier-ignore
}
