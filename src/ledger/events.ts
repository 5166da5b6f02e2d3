import { sql } from 'kysely';
import type { EventType, NewEvent } from '../rules/events.ts';
import type { Queries, Tx } from './tx.ts';
import { partsOf } from './parts.ts';
import { preparedByShape } from './prepared.ts';
import type { Row } from './schema.ts';

const collected = new WeakMap<Tx, NewEvent[]>();

/**
 * From here on, the events that are added with this transaction are also in the list that is answered; they count once it has committed.
 */
export function collectEvents(tx: Tx): readonly NewEvent[] {
  const events: NewEvent[] = [];
  collected.set(tx, events);
  return events;
}

/** Rows of the log as one list of values, and so many of them as the shape says. */
const insertEvents = preparedByShape((count) => (tx: Tx, values: readonly unknown[]) => {
  const rows = Array.from({ length: Number(count) }, (_, row) =>
    Object.fromEntries(eventColumns.map((column, at) => [column, values[row * eventColumns.length + at]])),
  );
  return tx.insertInto('events').values(rows as never);
});

const eventColumns = ['at', 'campaign_id', 'type', 'recipient_id', 'attempt_id', 'batch_id', 'data'] as const;
/** Most transactions add a few; longer lists are rare, and each length would be a text of its own. */
const eventsPerInsert = 25;

/** Adds to the append-only log, in the transaction of the change that it tells of. */
export async function appendEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  collected.get(tx)?.push(...events);
  for (const part of partsOf(events, eventsPerInsert)) {
    const values = part.flatMap((event) => [
      event.at,
      event.campaignId,
      event.type,
      event.recipientId ?? null,
      event.attemptId ?? null,
      event.batchId ?? null,
      event.data === undefined ? null : JSON.stringify(event.data),
    ]);
    await insertEvents(tx, String(part.length), values);
  }
}

export type CampaignEvent = NewEvent & { seq: number };

/** Which events are read. */
interface EventPage {
  afterSeq?: number;
  limit?: number;
  types?: readonly EventType[] | null;
}

/** Events of a campaign after `afterSeq`, oldest first. */
export async function readEvents(db: Queries, campaignId: string, page: EventPage = {}): Promise<CampaignEvent[]> {
  const rows = await selectEvents(db, page).where('campaign_id', '=', campaignId).execute();
  return rows.map(toEvent);
}

/** Events that tell of a campaign as a whole: few, and found without a walk through those of its calls. */
const markTypes = [
  'account.pace',
  'campaign.adjusted',
  'campaign.edited',
  'campaign.imported',
  'campaign.state',
  'caller.in',
  'caller.out',
  'clock.stepped',
  'hook.delivered',
  'hook.failed',
  'operator.acted',
  'round.ended',
  'round.started',
] satisfies EventType[];

/** Text and not parameters, since the index has it so. */
export const sqlMarkTypes = markTypes.map((type) => `'${type}'`).join(', ');

/** The marks of a campaign, oldest first. */
export async function readMarks(db: Queries, campaignId: string): Promise<CampaignEvent[]> {
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .where(sql<boolean>`type in (${sql.raw(sqlMarkTypes)})`)
    .orderBy('seq')
    .execute();
  return rows.map(toEvent);
}

/** The newest events of these recipients and their calls, oldest first, at most `limit`. */
export async function readEventsOf(db: Queries, recipientIds: readonly string[], limit: number): Promise<CampaignEvent[]> {
  if (recipientIds.length === 0) return [];
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('recipient_id', 'in', recipientIds)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.toReversed().map(toEvent);
}

/** Events of all campaigns after `afterSeq`, in the order of the log. */
export async function readAllEvents(
  db: Queries,
  afterSeq: number,
  limit: number,
  types: readonly EventType[] | null = null,
): Promise<CampaignEvent[]> {
  return (await selectEvents(db, { afterSeq, limit, types }).execute()).map(toEvent);
}

function selectEvents(db: Queries, { afterSeq = 0, limit = 1000, types = null }: EventPage) {
  return db
    .selectFrom('events')
    .selectAll()
    .where('seq', '>', afterSeq)
    .$if(types !== null, (query) => query.where('type', 'in', types ?? []))
    .orderBy('seq')
    .limit(limit);
}

/** A line of the log as it was written. */
export function toEvent(row: Row<'events'>): CampaignEvent {
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

/** Events of a campaign, newest first. */
export function newestEvents(db: Queries, campaignId: string) {
  return db.selectFrom('events').where('campaign_id', '=', campaignId).orderBy('seq', 'desc');
}

/** Events of a campaign, newest first; `beforeSeq`: only those before this one. */
export async function readNewestEvents(
  db: Queries,
  campaignId: string,
  { beforeSeq, limit, types }: { beforeSeq?: number | undefined; limit: number; types: readonly EventType[] | null },
): Promise<CampaignEvent[]> {
  if (types?.length === 0) return [];
  let rows = newestEvents(db, campaignId).limit(limit);
  if (beforeSeq !== undefined) rows = rows.where('seq', '<', beforeSeq);
  if (types === null) return (await rows.selectAll().execute()).map(toEvent);
  // The newest of each type by its index: what is rare would take a walk over all that is frequent.
  const ofEach = types.map((type) => sql`select seq from (${rows.select('seq').where('type', '=', type)}) newest`);
  const newest = sql`(select seq from (${sql.join(ofEach, sql` union all `)}) any_type order by seq desc limit ${limit})`;
  const found = db
    .selectFrom('events')
    .selectAll()
    .where(sql<boolean>`seq in ${newest}`)
    .orderBy('seq', 'desc');
  return (await found.execute()).map(toEvent);
}

/** Where the log ends now, or that of one campaign; 0 when it is empty. */
export async function lastEventSeq(db: Queries, campaignId?: string): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .$if(campaignId !== undefined, (query) => query.where('campaign_id', '=', campaignId ?? ''))
    .executeTakeFirst();
  return row?.seq ?? 0;
}
