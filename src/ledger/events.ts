import type { Selectable } from 'kysely';
import type { EventType, NewEvent } from '../domain/events.ts';
import type { Queries } from './open-ledger.ts';
import type { Database } from './schema.ts';

const rowsPerInsert = 500;

const collected = new WeakMap<Queries, NewEvent[]>();

/**
 * From here on, the events that are added with this transaction are also in the list that is answered; they count once it has committed.
 */
export function collectEvents(tx: Queries): readonly NewEvent[] {
  const events: NewEvent[] = [];
  collected.set(tx, events);
  return events;
}

/** Adds to the append-only log, in the transaction of the change that it tells of. */
export async function appendEvents(tx: Queries, events: readonly NewEvent[]): Promise<void> {
  collected.get(tx)?.push(...events);
  for (let start = 0; start < events.length; start += rowsPerInsert) {
    const rows = events.slice(start, start + rowsPerInsert).map((event) => ({
      at: event.at,
      campaign_id: event.campaignId,
      type: event.type,
      recipient_id: event.recipientId ?? null,
      attempt_id: event.attemptId ?? null,
      batch_id: event.batchId ?? null,
      data: event.data === undefined ? null : JSON.stringify(event.data),
    }));
    await tx.insertInto('events').values(rows).execute();
  }
}

export type CampaignEvent = NewEvent & { seq: number };

/** Events of a campaign after `afterSeq`, oldest first. */
export async function readEvents(
  db: Queries,
  campaignId: string,
  afterSeq = 0,
  limit = 1000,
  types: readonly EventType[] | null = null,
): Promise<CampaignEvent[]> {
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .where('seq', '>', afterSeq)
    .$if(types !== null, (query) => query.where('type', 'in', types ?? []))
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(toEvent);
}

/** Events of all campaigns after `afterSeq`, in the order of the log. */
export async function readAllEvents(db: Queries, afterSeq: number, limit: number): Promise<CampaignEvent[]> {
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(toEvent);
}

function toEvent(row: Selectable<Database['events']>): CampaignEvent {
  return {
    seq: row.seq,
    at: row.at,
    campaignId: row.campaign_id,
    type: row.type,
    ...(row.recipient_id === null ? {} : { recipientId: row.recipient_id }),
    ...(row.attempt_id === null ? {} : { attemptId: row.attempt_id }),
    ...(row.batch_id === null ? {} : { batchId: row.batch_id }),
    ...(row.data === null ? {} : { data: JSON.parse(row.data) as object }),
  } as CampaignEvent;
}

/** Where the log of a campaign ends now; 0 when it is empty. */
export async function lastEventSeq(db: Queries, campaignId: string): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  return row?.seq ?? 0;
}
