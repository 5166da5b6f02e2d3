import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { createConvaiClient } from '../../src/convai/client.ts';
import { readServiceClock } from '../../src/convai/service-clock.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { importCampaign, type ImportRow } from '../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { buildRules } from '../support/campaign-rules.ts';

const rules = buildRules({
  list: { ...buildRules().list, columns: ['phone'], defaultRegion: null },
  firstMessage: null,
  variables: null,
  optOut: [],
  pacing: { maxConcurrentCalls: 10, batchSize: 10, refillThreshold: 1 },
});

async function* oneRow(): AsyncGenerator<ImportRow[]> {
  const place = { zones: [], country: 'US', regions: null };
  yield [{ row: 1, cells: [''], verdict: 'accepted', externalId: null, e164: '+12125550100', ...place }];
}

/** Submits one batch to a service that first answers 429, and tells how long the first try waits and what a second one finds. */
async function submitLimited(seconds: number): Promise<{ waitMs: number; second: string; calls: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-submit-'));
  const sandbox = await startSandbox({
    faults: [{ operation: 14, nth: 1, effect: { type: 'rate_limited', seconds } }],
  });
  const store = await openStore({ sqlitePath: join(folder, 'ledger.db') });
  const client = createConvaiClient({ baseUrl: sandbox.url, apiKey: 'sk_sandbox_ok' });
  try {
    const clock = await readServiceClock(sandbox.url, 5_000);
    const now = Math.round(clock.now());
    const input = { campaignId: 'limited', name: null, fileHash: 'hash', rules, accountId: sandbox.url };
    await importCampaign(store, input, oneRow(), now);
    await openRound(store, 'limited', (id, round) => `${id}/${round}`, now);
    const { plan, submit } = createActivities(
      buildDependencies({ store, client, accountId: sandbox.url, serviceClock: clock, now: Date.now }),
    );
    const planned = await plan({ campaignId: 'limited', round: 1, batchNumber: 1 });
    if (planned.kind !== 'batch') throw new Error(`planned ${planned.kind}`);
    const failure = await submit({ batchId: planned.batchId }).catch((error: unknown) => error);
    if (!(failure instanceof ApplicationFailure)) throw new Error('the first submit did not wait');
    const second = await submit({ batchId: planned.batchId }).then(
      (result) => (result.kind === 'verdict' ? result.state : result.kind),
      (error: unknown) => (error as ApplicationFailure).type ?? 'failed',
    );
    return { waitMs: Number(failure.nextRetryDelay), second, calls: sandbox.calls().length };
  } finally {
    await client.close();
    await store.close();
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
}

test('a batch whose Retry-After is longer than a submit may take is released at once, and nobody is dialled early', async () => {
  const { waitMs, second, calls } = await submitLimited(3_600);
  expect(waitMs).toBeLessThan(1_000);
  expect({ second, calls }).toEqual({ second: 'released', calls: 0 });
});

test('a shorter Retry-After is waited for in full by the same batch', async () => {
  const { waitMs, second, calls } = await submitLimited(60);
  expect(waitMs).toBeGreaterThan(50_000);
  expect({ second, calls }).toEqual({ second: 'Blocked', calls: 0 });
});
