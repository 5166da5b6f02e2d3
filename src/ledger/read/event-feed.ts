import { sql } from 'kysely';
import type { EventType } from '../../domain/events.ts';
import { readAllEvents, readEvents, type CampaignEvent } from '../events.ts';
import type { Store } from '../open-ledger.ts';
import { isPostgres } from '../tx.ts';

/** Which events a reader wants. */
export interface FeedQuery {
  afterSeq: number;
  /** Null: of all campaigns. */
  campaignId: string | null;
  types?: readonly EventType[] | null;
  limit: number;
}

/** A transaction that takes a number of the log and has none of its own yet gets it within the statement. */
const numberedWithinMs = 100;

/**
 * Reads the log in its order so that a cursor misses nothing: on PostgreSQL a line with a smaller number may be committed after one with a
 * larger number, so a gap is waited for until every transaction that could fill it has ended. Keep one feed for each reader's life.
 */
export class EventFeed {
  readonly #store: Pick<Store, 'db'>;
  /** Missing numbers: since when, and the first transaction that had not begun when each was missed. */
  readonly #gaps = new Map<number, { sinceMs: number; before: bigint | null }>();

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
      campaignId === null
        ? await readAllEvents(db, afterSeq, limit, types)
        : await readEvents(db, campaignId, { afterSeq, limit, types });
    const events = found.filter(({ seq }) => seq <= last);
    // A full page may go on before `last`.
    const isFull = found.length === limit && (found.at(-1)?.seq ?? 0) <= last;
    return { events, cursor: isFull ? (events.at(-1)?.seq ?? last) : last };
  }

  /** The last number up to which nothing can be added any more, looking at most so many numbers ahead. */
  async #lastSafe(afterSeq: number, ahead: number): Promise<number> {
    const { db } = this.#store;
    // Before the numbers: what had ended by then shows in them.
    const ended = isPostgres(db) ? (await readSnapshot(db)).oldest : null;
    const rows = await db
      .selectFrom('events')
      .select('seq')
      .where('seq', '>', afterSeq)
      .orderBy('seq')
      .limit(ahead)
      .execute();
    const newest = rows.at(-1)?.seq ?? afterSeq;
    if (ended === null || newest - afterSeq === rows.length) return newest;
    let expected = afterSeq + 1;
    for (const { seq } of rows) {
      for (; expected < seq; expected += 1) if (!(await this.#isEmptyForGood(expected, ended))) return expected - 1;
      expected = seq + 1;
    }
    return newest;
  }

  /** Whether every transaction that may have taken this number is over; `ended`: all before this one are. */
  async #isEmptyForGood(seq: number, ended: bigint): Promise<boolean> {
    const gap = this.#gaps.get(seq) ?? { sinceMs: performance.now(), before: null };
    this.#gaps.set(seq, gap);
    if (gap.before !== null && ended >= gap.before) {
      this.#gaps.delete(seq);
      return true;
    }
    // Whoever has taken a number has its own a moment later at most.
    if (gap.before === null && performance.now() - gap.sinceMs >= numberedWithinMs)
      gap.before = (await readSnapshot(this.#store.db)).next;
    return false;
  }
}

async function readSnapshot(db: Store['db']): Promise<{ oldest: bigint; next: bigint }> {
  const { rows } = await sql<{ oldest: string; next: string }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as oldest, pg_snapshot_xmax(pg_current_snapshot())::text as next`.execute(
    db,
  );
  return { oldest: BigInt(rows[0]?.oldest ?? 0), next: BigInt(rows[0]?.next ?? 0) };
}
