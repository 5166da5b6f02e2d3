import { fetch } from 'undici';
import { expect, test, vi } from 'vitest';
import { fullPace } from '../../../src/rules/pacing/pace-control.ts';
import type * as BatchStates from '../../../src/ledger/batch-state.ts';
import { readAllEvents, type CampaignEvent } from '../../../src/ledger/events.ts';
import type { Queries } from '../../../src/ledger/tx.ts';
import { buildRows, buildRules } from '../../support/campaign-rules.ts';
import { numbers } from '../../ledger/scenario.ts';
import { Drive } from '../../world/drive.ts';
import type { Mix } from '../../world/mix.ts';

const pacing = { maxConcurrentCalls: 4, batchSize: 2, refillThreshold: 1 };

async function useUpRequests(db: Queries): Promise<void> {
  const { account_id: url } = await db.selectFrom('campaigns').select('account_id').executeTakeFirstOrThrow();
  for (let request = 0; request < 2; request += 1) await fetch(`${url}/v1/convai/agents`, { headers: { 'x-api-key': 'sk_sandbox_ok' } });
}

vi.mock('../../../src/ledger/batch-state.ts', async (load): Promise<typeof BatchStates> => {
  const { compareAndSetBatch } = await load<typeof BatchStates>();
  let posts = 0;
  return {
    compareAndSetBatch: async (tx, batchId, change) => {
      if (change.to === 'posting' && (posts += 1) === 5) await useUpRequests(tx);
      return compareAndSetBatch(tx, batchId, change);
    },
  };
});

test('a plan that refuses a batch with 429 slows the campaign down, which comes back to full pace and ends clean', async () => {
  let events: CampaignEvent[] = [];
  const mix: Mix = {
    seed: 'plan',
    sandbox: { plan: 'free' },
    campaigns: [
      {
        campaignId: 'spring',
        rules: buildRules({ pacing, retry: { maxAttempts: 1 } }),
        rows: buildRows(numbers(60), (index) => `Guest ${index}`),
      },
    ],
  };
  const drive: Drive = new Drive({
    ...mix,
    atEnd: async () => {
      events = await readAllEvents(drive.store.db, 0, 100_000);
    },
  });
  const { breaches, proven, faults, ledger } = await drive.run();
  expect([...breaches, ...proven, ...faults]).toEqual([]);
  expect(ledger.recipients.every(({ outcome }) => outcome !== null)).toBe(true);
  // Each check of the list before the batch is sent again uses the same budget.
  expect(ledger.posts.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(1);
  const paces = events.flatMap(({ type, data }) => (type === 'account.pace' ? [data.to] : []));
  expect(paces[0]).toBe(fullPace / 2);
  expect(paces.at(-1)).toBe(fullPace);
});
