import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { ConvaiClient } from '../../src/service/convai/client.ts';
import { createActivities } from '../../activities/index.ts';
import { openNoWitness } from './activity-context.ts';
import { buildDependencies } from './activity-dependencies.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** The service takes every batch; also returns the ids of the requests. `meanwhile`: runs during each. */
export function submittingWorker(
  store: Store,
  given: { meanwhile?: () => Promise<void>; openRequestNotes?: ActivityDependencies['openRequestNotes'] } = {},
): ReturnType<typeof createActivities> & { posts: string[] } {
  const posts: string[] = [];
  const client = {
    clockReadings: () => ({ last: null, ageMs: 0, answeredMsAgo: 0, connectionFailed: false }),
    listPhoneNumbers: async () => [{ phone_number_id: 'pn_main', phone_number: '+12015550100' }],
    placeBatchCalls: async (_body: unknown, { requestId }: { requestId: string }) => {
      posts.push(requestId);
      await given.meanwhile?.();
      return { batchId: 'service_1', callsInitiated: 6 };
    },
  };
  const deps = buildDependencies({
    store,
    client: client as unknown as ConvaiClient,
    openRequestNotes: given.openRequestNotes ?? openNoWitness,
  });
  return { ...createActivities(deps), posts };
}
