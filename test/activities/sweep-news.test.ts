import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import type { ConvaiClient } from '../../src/service/convai/client.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { agentId, beginProven } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { asActivity } from '../support/activity-context.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { hourMs } from '../support/campaign-rules.ts';

test.for(dialects)('a collect that waits hears that another one has read the list, and ends for the planner: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const pacing = { batchSize: 1, refillThreshold: 1, maxConcurrentCalls: 2 };
  const scenario = await beginProven(store, { rules: { pacing, timing: { pollMs: hourMs } } });
  const [attempts] = [await scenario.dial(1), await scenario.dial(2)];
  let pages = 0;
  const client = {
    clockReadings: () => ({ last: null, ageMs: 0, connectionFailed: false }),
    listConversationsPage: async () => {
      pages += 1;
      return { conversations: [], unusable: [], nextCursor: null, hasMore: false, serviceDate: null };
    },
  } as unknown as ConvaiClient;
  const deps = buildDependencies({ store, client });
  const { campaignId } = scenario;
  const collecting = asActivity(() => createActivities(deps).collect({ campaignId }));
  await expect.poll(() => pages).toBe(1);
  const { timing } = (await scenario.campaign()).rules;
  // A campaign that has seen no free line, and one that has.
  deps.sweepNews.tell(agentId, { ...timing, pollMs: hourMs / 2 });
  await scenario.settle(attempts, 'answered');
  deps.sweepNews.tell(agentId, timing);
  expect(await collecting).toMatchObject({ reason: 'plan', state: 'running' });
  expect(pages).toBe(1);
});
