import { readInParts } from '../parts.ts';
import type { Queries } from '../tx.ts';

/** Between which instants of the service's clock a request was made, over all POSTs of its batch. */
export interface PostBounds {
  from: number;
  to: number;
  /** Whether the service's clock was read before each of them. */
  clocked: boolean;
}

/**
 * Bounds of posted batches. Without the service's clock that of the poster stands in, with a margin; without an answer the request may be
 * carried out until `hold_after`.
 */
export async function readPostBounds(
  db: Queries,
  batchIds: readonly string[],
  { clockToleranceMs }: { clockToleranceMs: number },
): Promise<Map<string, PostBounds>> {
  const rows = await readInParts([...new Set(batchIds)], (part) =>
    db
      .selectFrom('posts')
      .innerJoin('batches', 'batches.batch_id', 'posts.batch_id')
      .select(['posts.batch_id', 'posts.posted_at', 'posts.service_from', 'posts.service_to', 'posts.verdict_at'])
      .select('batches.hold_after')
      .where('posts.batch_id', 'in', part)
      .execute(),
  );
  const bounds = new Map<string, PostBounds>();
  for (const row of rows) {
    const from = row.service_from ?? row.posted_at - clockToleranceMs;
    const to = row.service_to ?? Math.max(row.verdict_at ?? 0, row.hold_after ?? row.posted_at) + clockToleranceMs;
    const known = bounds.get(row.batch_id);
    bounds.set(row.batch_id, {
      from: Math.min(from, known?.from ?? from),
      to: Math.max(to, known?.to ?? to),
      clocked: row.service_from !== null && known?.clocked !== false,
    });
  }
  return bounds;
}
