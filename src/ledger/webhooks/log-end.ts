import { setTimeout as pause } from 'node:timers/promises';
import { lastEventSeq } from '../events.ts';
import { EventFeed } from '../read/event-feed.ts';
import type { Store } from '../tx.ts';

const everyMs = 25;
/** An import may hold log numbers longer; a reader from here then gets some earlier events. */
const longestWaitMs = 2_000;
/** No open transaction has taken a number further back. */
const rewindEvents = 10_000;

/** Later commits come behind it. Waits for smaller numbers that PostgreSQL may be about to commit. */
export async function findEndOfLog(store: Store): Promise<number> {
  const last = await lastEventSeq(store.db);
  const feed = new EventFeed(store);
  const waits = Math.ceil(longestWaitMs / everyMs);
  let cursor = Math.max(0, last - rewindEvents);
  for (let waited = 0; cursor < last && waited < waits;) {
    const page = await feed.read({ afterSeq: cursor, campaignId: null, limit: 1_000 });
    if (page.cursor > cursor) ({ cursor } = page);
    else {
      waited += 1;
      await pause(everyMs);
    }
  }
  return cursor;
}
