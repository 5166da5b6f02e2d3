import { jsonOf } from '../http/bodies.ts';
import { readPage } from '../http/pagination.ts';
import { isRecord } from '../http/refusal-detail.ts';
import { root } from '../http/paths.ts';
import type { Transport } from '../http/transport.ts';
import type { Found } from '../port/call-service.ts';
import { RefusedError, ServiceError } from '../port/errors.ts';
import { batch } from './schemas.ts';
import { isNamed } from './submission.ts';

const pageSize = 100;

/** A batch may be listed as older than the request that made it by as much as two clocks and a whole second may differ. */
const toleranceMs = 5 * 60_000;

/** Pages after which a list is one of its own making. */
const mostPages = 1_000;

interface Sought {
  mark: string;
  agentId: string;
  since: number;
}

/**
 * Looks for a request by its mark among the agent's batches, from the newest to those of before `since`: on to the end where the list is
 * not in that order. What may be the one, and cannot be read, is never taken for another.
 */
export async function findMarked(transport: Transport, sought: Sought): Promise<Found> {
  try {
    const walked = await walk(transport, sought);
    const [first, ...others] = [...walked.ids];
    if (first !== undefined && others.length > 0) return { kind: 'several', serviceBatchIds: [first, ...others] };
    if (first !== undefined) return { kind: 'accepted', serviceBatchId: first };
    return walked.isWhole ? { kind: 'absent', certain: false } : { kind: 'not_readable' };
  } catch (error) {
    if (error instanceof ServiceError) return { kind: 'not_readable' };
    throw error;
  }
}

async function walk(transport: Transport, { mark, agentId, since }: Sought): Promise<{ ids: Set<string>; isWhole: boolean }> {
  const ids = new Set<string>();
  const cursors = new Set<string>();
  const horizon = (since - toleranceMs) / 1_000;
  let [previous, isOrdered, isReadable, hasFallen] = [Infinity, true, true, false];
  let limit: number | null = pageSize;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const read = (most: number | null) => {
      const query = { agent_id: agentId, limit: most === null ? undefined : String(most), last_doc: [...cursors].at(-1) };
      return transport.read(`${root}/batch-calling/workspace`, query);
    };
    // How long a page may be is not published.
    const success = await read(limit).catch((error: unknown) => {
      if (limit === null || !(error instanceof RefusedError && error.status === 422)) throw error;
      limit = null;
      return read(limit);
    });
    const page = readPage(jsonOf(success), 'batch_calls', 'next_doc');
    if (page === undefined) return { ids, isWhole: false };
    for (const entry of page.items) {
      const { id, name, created_at_unix: created } = batch.parse(isRecord(entry) ? entry : {});
      isOrdered &&= created !== null && created <= previous;
      hasFallen ||= created !== null && created < previous && previous !== Infinity;
      previous = created ?? previous;
      if (name !== null && !isNamed(name, mark)) continue;
      if (name !== null && id !== null) ids.add(id);
      // Without a name it may be the one, unless it is older; without an id it cannot be asked for.
      else isReadable &&= name === null && created !== null && created < horizon;
    }
    // A list that begins with its oldest shows no time that is earlier than one before it.
    if (isOrdered && hasFallen && previous < horizon) return { ids, isWhole: isReadable };
    const { hasMore, nextCursor } = page;
    if (hasMore === false || (hasMore === null && nextCursor === null && page.items.length < (limit ?? 1)))
      return { ids, isWhole: isReadable };
    if (nextCursor === null || cursors.has(nextCursor)) break;
    cursors.add(nextCursor);
  }
  return { ids, isWhole: false };
}
