import type { Connection } from '@temporalio/client';

/** A poll lasts up to a minute, and the server forgets a poller only after minutes. */
const goneAfterMs = 75_000;

/**
 * How many workers have asked for this campaign queue's work lately. One that was killed counts for a minute more.
 * Throws what the connection throws.
 */
export async function countWorkers(
  connection: Connection,
  queue: { namespace: string; name: string; limitMs: number; now: number },
): Promise<number> {
  const { pollers } = await connection.withDeadline(Date.now() + queue.limitMs, () =>
    connection.workflowService.describeTaskQueue({
      namespace: queue.namespace,
      taskQueue: { name: queue.name },
    }),
  );
  const present = (pollers ?? []).filter(({ lastAccessTime }) => {
    return lastAccessTime?.seconds == null || queue.now - lastAccessTime.seconds.toNumber() * 1000 < goneAfterMs;
  });
  return new Set(present.map(({ identity }) => identity)).size;
}
