import type { TemporalAccess } from '../../../src/operations/control/control.ts';

/** What the workflow is told, and what it answers. */
export type Tell = (update: string, input: { pausesSeen?: number } | undefined) => Promise<boolean>;

/**
 * Temporal as far as a person's request goes there, for a campaign whose workflow is played by its driver: it knows on which queue the
 * workflow runs, and hands updates to whoever plays it. Temporal itself is at the level `system`.
 */
export function temporalOf(queue: string, tell: Tell): TemporalAccess {
  const handle = {
    describe: async () => ({ taskQueue: queue, status: { name: 'RUNNING' }, raw: {} }),
    executeUpdate: async (update: { name: string }, options?: { args: [{ pausesSeen?: number }] }) => tell(update.name, options?.args[0]),
  };
  return {
    address: 'the driver',
    namespace: 'small',
    connection: { withDeadline: async (_: number, work: () => Promise<unknown>) => work() },
    client: { workflow: { getHandle: () => handle } },
  } as unknown as TemporalAccess;
}
