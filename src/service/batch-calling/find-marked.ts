import type { z } from 'zod';
import { jsonOf } from '../http/bodies.ts';
import { readPage } from '../http/pagination.ts';
import { isRecord } from '../http/refusal-detail.ts';
import { root } from '../http/paths.ts';
import type { Transport } from '../http/transport.ts';
import type { Found, ListedBatch } from '../port/call-service.ts';
import { BadResponseError, RefusedError, ServiceError } from '../port/errors.ts';
import { batch } from './schemas.ts';
import { isNamed } from './submission.ts';

const path = `${root}/batch-calling/workspace`;
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
  const horizon = (since - toleranceMs) / 1_000;
  let [previous, isOrdered, isReadable, hasFallen] = [Infinity, true, true, false];
  for await (const { batches, isLast } of pagesOf(transport, agentId)) {
    for (const { id, name, created_at_unix: created } of batches) {
      isOrdered &&= created !== null && created <= previous;
      hasFallen ||= created !== null && created < previous && previous !== Infinity;
      previous = created ?? previous;
      if (name !== null && !isNamed(name, mark)) continue;
      if (name !== null && id !== null) ids.add(id);
      // Without a name it may be the one, unless it is older; without an id it cannot be asked for.
      else isReadable &&= name === null && created !== null && created < horizon;
    }
    // A list that begins with its oldest shows no time that is earlier than one before it.
    if (isLast || (isOrdered && hasFallen && previous < horizon)) return { ids, isWhole: isReadable };
  }
  return { ids, isWhole: false };
}

/** All batches, of one agent or of all. Throws ServiceError, also where the list cannot be read to its end, or does not name a batch. */
export async function* listBatches(transport: Transport, agentId?: string): AsyncGenerator<ListedBatch> {
  const fault = (problem: string) => new BadResponseError({ method: 'GET', path, requestId: null }, 200, [problem]);
  let isWhole = false;
  for await (const { batches, isLast } of pagesOf(transport, agentId)) {
    for (const { id, name, retry_count: retries } of batches) {
      if (id === null || name === null) throw fault('a batch without id or name in it');
      yield { id, name, retries };
    }
    isWhole = isLast;
  }
  if (!isWhole) throw fault('it cannot be read to its end');
}

/** The pages of the list of batches; without a last one where it cannot be followed. */
async function* pagesOf(
  transport: Transport,
  agentId: string | undefined,
): AsyncGenerator<{ batches: z.output<typeof batch>[]; isLast: boolean }> {
  const cursors = new Set<string>();
  let limit: number | null = pageSize;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const read = (most: number | null) => {
      const query = { agent_id: agentId, limit: most === null ? undefined : String(most), last_doc: [...cursors].at(-1) };
      return transport.read(path, query);
    };
    // How long a page may be is not published.
    const success = await read(limit).catch((error: unknown) => {
      if (limit === null || !(error instanceof RefusedError && error.status === 422)) throw error;
      limit = null;
      return read(limit);
    });
    const page = readPage(jsonOf(success), 'batch_calls', 'next_doc');
    if (page === undefined) return;
    const { hasMore, nextCursor } = page;
    const isLast = hasMore === false || (hasMore === null && nextCursor === null && page.items.length < (limit ?? 1));
    yield { batches: page.items.map((entry) => batch.parse(isRecord(entry) ? entry : {})), isLast };
    if (isLast || nextCursor === null || cursors.has(nextCursor)) return;
    cursors.add(nextCursor);
  }
}
