import { sql } from 'kysely';
import type { EventType } from '../../rules/events.ts';
import { lastEventSeq, readAllEvents, readEvents, type CampaignEvent } from '../events.ts';
import { countBy } from '../reads.ts';
import { isPostgres, type Queries, type Store } from '../tx.ts';

export interface FeedQuery {
  afterSeq: number;
  /** Null: all campaigns. */
  campaignId: string | null;
  types?: readonly EventType[] | null;
  limit: number;
}

interface LogSnapshot {
  newest: number;
  /** Transactions writing to the log: a missing number up to `newest` belongs to one of them. */
  writers: ReadonlySet<string>;
}

/**
 * Reads the log in order so that a cursor misses nothing. On PostgreSQL a smaller number may be committed after a larger one, so the feed
 * waits at a gap until every transaction that could fill it has ended. A hanging writer of the log stops the feed until it ends; no other
 * transaction does, not even a backup. Keep one feed per reader.
 */
export class EventFeed {
  readonly #store: Pick<Store, 'db'>;
  /** No event up to this number can still appear. */
  #settled = 0;
  /** Settles more once its writers have ended. */
  #look: LogSnapshot | null = null;

  constructor(store: Pick<Store, 'db'>) {
    this.#store = store;
  }

  /** The next events, and the cursor to continue from; it also passes events that are filtered out. */
  async read(query: FeedQuery): Promise<{ events: CampaignEvent[]; cursor: number }> {
    const { db } = this.#store;
    const { afterSeq, campaignId, types = null, limit } = query;
    const last = await this.#lastSafe(afterSeq, campaignId !== null || types !== null ? 50_000 : limit);
    if (last <= afterSeq) return { events: [], cursor: afterSeq };
    const found =
      campaignId === null ? await readAllEvents(db, afterSeq, limit, types) : await readEvents(db, campaignId, { afterSeq, limit, types });
    const events = found.filter(({ seq }) => seq <= last);
    // More events up to `last` may follow a full page.
    const isFull = found.length === limit && (found.at(-1)?.seq ?? 0) <= last;
    return { events, cursor: isFull ? (events.at(-1)?.seq ?? last) : last };
  }

  /** Last number up to which no event can still appear, at most `ahead` numbers ahead. */
  async #lastSafe(afterSeq: number, ahead: number): Promise<number> {
    const { db } = this.#store;
    const rows = await db.selectFrom('events').select('seq').where('seq', '>', afterSeq).orderBy('seq').limit(ahead).execute();
    const newest = rows.at(-1)?.seq ?? afterSeq;
    if (newest - afterSeq === rows.length || !isPostgres(db)) return newest;
    if (this.#settled < newest) await this.#settle();
    let safe = Math.max(afterSeq, Math.min(this.#settled, newest));
    for (const { seq } of rows) if (seq === safe + 1) safe = seq;
    return safe;
  }

  async #settle(): Promise<void> {
    const { db } = this.#store;
    // Taken first: concurrent reads of this feed set it, too.
    const earlier = this.#look;
    // Read before the writers, so that every unfinished holder of a number is among them.
    const newest = await lastEventSeq(db);
    const writers = await readWriters(db);
    if (earlier !== null && [...earlier.writers].some((writer) => writers.has(writer))) return;
    const isQuiet = writers.size === 0;
    this.#settled = Math.max(this.#settled, isQuiet ? newest : (earlier?.newest ?? 0));
    this.#look = isQuiet ? null : { newest, writers };
  }
}

/** Each writer locks the table before it takes a number, and releases it once its rows are visible or gone. */
async function readWriters(db: Store['db']): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`select distinct virtualtransaction as id from pg_locks
    where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Reads the campaign's part of an index: costly for long logs. */
export async function readEventKinds(db: Queries, campaignId: string): Promise<ReadonlyMap<EventType, number>> {
  const lines = await countBy(db.selectFrom('events').where('campaign_id', '=', campaignId), 'type');
  return new Map(Object.entries(lines) as [EventType, number][]);
}
