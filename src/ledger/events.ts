import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import type { EventType, NewEvent } from '../rules/events.ts';
import type { Queries, Tx } from './tx.ts';
import { partsOf } from './parts.ts';
import { preparedByShape } from './prepared.ts';
import type { Row } from './schema.ts';

export interface Actor {
  role: string;
  name: string;
}

const acting = new AsyncLocalStorage<Actor>();

/** The log names the holder of a token for changes to rows and the do-not-call list. */
export function actFor<Answer>({ role, name }: Actor, work: () => Promise<Answer>): Promise<Answer> {
  return acting.run({ role, name }, work);
}

/** Null: none, or a command of an earlier version. */
export function actorOf({ data }: { data?: unknown }): Actor | null {
  return (data as { actor?: Actor } | undefined)?.actor ?? null;
}

const actedTypes: ReadonlySet<EventType> = new Set([
  ...(['recipient.added', 'recipient.corrected', 'recipient.withdrawn', 'recipient.retried', 'recipient.decided'] as const),
  ...(['callback.promised', 'callback.moved', 'callback.ended', 'suppression.added', 'suppression.removed'] as const),
]);

function dataOf({ type, data }: NewEvent): string | null {
  const actor = actedTypes.has(type) ? acting.getStore() : undefined;
  if (actor !== undefined) return JSON.stringify({ ...data, actor });
  return data === undefined ? null : JSON.stringify(data);
}

const collected = new WeakMap<Tx, NewEvent[]>();

/** From here on the returned list also gets this transaction's events; they count once it commits. */
export function collectEvents(tx: Tx): readonly NewEvent[] {
  const events: NewEvent[] = [];
  collected.set(tx, events);
  return events;
}

const insertEvents = preparedByShape((count) => (tx: Tx, values: readonly unknown[]) => {
  const rows = Array.from({ length: Number(count) }, (_, row) =>
    Object.fromEntries(eventColumns.map((column, at) => [column, values[row * eventColumns.length + at]])),
  );
  return tx.insertInto('events').values(rows as never);
});

const eventColumns = ['at', 'campaign_id', 'type', 'recipient_id', 'attempt_id', 'batch_id', 'data'] as const;
/** Most transactions add few events; each length is its own statement. */
const eventsPerInsert = 25;

/** In the transaction of the logged change. */
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
      dataOf(event),
    ]);
    await insertEvents(tx, String(part.length), values);
  }
}

export type CampaignEvent = NewEvent & { seq: number };

interface EventPage {
  afterSeq?: number;
  limit?: number;
  types?: readonly EventType[] | null;
}

export async function readEvents(db: Queries, campaignId: string, page: EventPage = {}): Promise<CampaignEvent[]> {
  const rows = await selectEvents(db, page).where('campaign_id', '=', campaignId).execute();
  return rows.map(toEvent);
}

/** About a campaign as a whole: few, and found without scanning those of its calls. */
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

/** Text instead of parameters, to match the index. */
export const sqlMarkTypes = markTypes.map((type) => `'${type}'`).join(', ');

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

/** Newest events of these recipients and their calls, oldest first, at most `limit`. */
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

export function newestEvents(db: Queries, campaignId: string) {
  return db.selectFrom('events').where('campaign_id', '=', campaignId).orderBy('seq', 'desc');
}

export async function readNewestEvents(
  db: Queries,
  campaignId: string,
  { beforeSeq, limit, types }: { beforeSeq?: number | undefined; limit: number; types: readonly EventType[] | null },
): Promise<CampaignEvent[]> {
  if (types?.length === 0) return [];
  let rows = newestEvents(db, campaignId).limit(limit);
  if (beforeSeq !== undefined) rows = rows.where('seq', '<', beforeSeq);
  if (types === null) return (await rows.selectAll().execute()).map(toEvent);
  // By index per type: a rare type would otherwise scan all frequent ones.
  const ofEach = types.map((type) => sql`select seq from (${rows.select('seq').where('type', '=', type)}) newest`);
  const newest = sql`(select seq from (${sql.join(ofEach, sql` union all `)}) any_type order by seq desc limit ${limit})`;
  const found = db
    .selectFrom('events')
    .selectAll()
    .where(sql<boolean>`seq in ${newest}`)
    .orderBy('seq', 'desc');
  return (await found.execute()).map(toEvent);
}

/** Last of the log, or of one campaign; 0: empty. */
export async function lastEventSeq(db: Queries, campaignId?: string): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .$if(campaignId !== undefined, (query) => query.where('campaign_id', '=', campaignId ?? ''))
    .executeTakeFirst();
  return row?.seq ?? 0;
}

/** The log proves nothing if the database allows editing it. */
export const forbidEditingEvents: Readonly<Record<'sqlite' | 'postgres', readonly string[]>> = {
  sqlite: ['update', 'delete'].map(
    (change) => `create trigger events_no_${change} before ${change} on events begin select raise(abort, 'events are append-only'); end`,
  ),
  postgres: [
    `create function events_append_only() returns trigger language plpgsql as $$ begin raise exception 'events are append-only'; end $$`,
    'create trigger events_append_only before update or delete on events for each row execute function events_append_only()',
  ],
};
