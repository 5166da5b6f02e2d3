import type { Connection } from '@temporalio/client';

/** A poll lasts up to a minute, and the server forgets a poller only after minutes. */
const goneAfterMs = 75_000;

/**
 * Whether a worker has asked for this campaign queue's work lately. A worker that was killed counts for a minute more.
 * Throws what the connection throws.
 */
export async function hasWorker(
  connection: Connection,
  queue: { namespace: string; name: string; limitMs: number; now: number },
): Promise<boolean> {
  const { pollers } = await connection.withDeadline(Date.now() + queue.limitMs, () =>
    connection.workflowService.describeTaskQueue({
      namespace: queue.namespace,
      taskQueue: { name: queue.name },
    }),
  );
  return (pollers ?? []).some(({ lastAccessTime }) => {
    return lastAccessTime?.seconds == null || queue.now - lastAccessTime.seconds.toNumber() * 1000 < goneAfterMs;
  });
}
