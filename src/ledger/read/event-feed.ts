import { sql } from 'kysely';
import type { EventType } from '../../rules/events.ts';
import { lastEventSeq, readAllEvents, readEvents, type CampaignEvent } from '../events.ts';
import { countBy } from '../reads.ts';
import { isPostgres, type Queries, type Store } from '../tx.ts';

export interface FeedQuery {
  afterSeq: number;
  /** Null: of all campaigns. */
  campaignId: string | null;
  types?: readonly EventType[] | null;
  limit: number;
}

/** The log at one moment. */
interface Look {
  newest: number;
  /** The transactions that were writing to the log: if a number up to `newest` is still to come, it is one of theirs. */
  writers: ReadonlySet<string>;
}

/**
 * Reads the log in its order so that a cursor misses nothing: on PostgreSQL a line with a smaller number may be committed after one with a
 * larger number, so a gap is waited for until every transaction that could fill it has ended. That may be long if a writer of the log hangs
 * in its transaction: the feed stands still until it ends, and goes on then. No other transaction holds it up, neither a backup nor one
 * that writes to other tables or databases of the server. Keep one feed for each reader's life.
 */
export class EventFeed {
  readonly #store: Pick<Store, 'db'>;
  /** Up to this number nothing can be added any more. */
  #settled = 0;
  /** What settles more once its writers have ended. */
  #look: Look | null = null;

  constructor(store: Pick<Store, 'db'>) {
    this.#store = store;
  }

  /** The next events, and the cursor to go on from: it moves over events that were not wanted too. */
  async read(query: FeedQuery): Promise<{ events: CampaignEvent[]; cursor: number }> {
    const { db } = this.#store;
    const { afterSeq, campaignId, types = null, limit } = query;
    const last = await this.#lastSafe(afterSeq, campaignId !== null || types !== null ? 50_000 : limit);
    if (last <= afterSeq) return { events: [], cursor: afterSeq };
    const found =
      campaignId === null ? await readAllEvents(db, afterSeq, limit, types) : await readEvents(db, campaignId, { afterSeq, limit, types });
    const events = found.filter(({ seq }) => seq <= last);
    // A full page may go on before `last`.
    const isFull = found.length === limit && (found.at(-1)?.seq ?? 0) <= last;
    return { events, cursor: isFull ? (events.at(-1)?.seq ?? last) : last };
  }

  /** The last number up to which nothing can be added any more, looking at most so many numbers ahead. */
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
    // Before the writers of now, since other readings of this feed look as well.
    const earlier = this.#look;
    // The end of the log before its writers: whoever has taken a number by then and has not ended is among them.
    const newest = await lastEventSeq(db);
    const writers = await readWriters(db);
    if (earlier !== null && [...earlier.writers].some((writer) => writers.has(writer))) return;
    const isQuiet = writers.size === 0;
    this.#settled = Math.max(this.#settled, isQuiet ? newest : (earlier?.newest ?? 0));
    this.#look = isQuiet ? null : { newest, writers };
  }
}

/**
 * The transactions that are writing to the log. Each locks the table before it takes a number, and lets go of it after its rows have come
 * to be seen by every later statement, or are gone.
 */
async function readWriters(db: Store['db']): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`select distinct virtualtransaction as id from pg_locks
    where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** How many lines of each type the log of a campaign has. Walks through its part of an index: costly where there are many. */
export async function readEventKinds(db: Queries, campaignId: string): Promise<ReadonlyMap<EventType, number>> {
  const lines = await countBy(db.selectFrom('events').where('campaign_id', '=', campaignId), 'type');
  return new Map(Object.entries(lines) as [EventType, number][]);
}
