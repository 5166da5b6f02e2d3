import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { createConvaiClient } from '../../src/convai/client.ts';
import { readServiceClock } from '../../src/convai/service-clock.ts';
import type { CampaignRules } from '../../src/domain/campaign-rules.ts';
import { defaultRetryDelays } from '../../src/domain/attempts/retry-schedule.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { importCampaign, type ImportRow } from '../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';

const rules: CampaignRules = {
  agentId: 'agent_reminders',
  callers: { numbers: ['pn_main'], choice: 'region' },
  list: {
    columns: ['phone'],
    phoneColumn: 'phone',
    idColumn: null,
    timezoneColumn: null,
    countryColumn: null,
    defaultRegion: null,
    regionColumn: null,
    zipColumn: null,
    notBeforeColumn: null,
    expiresAtColumn: null,
    fallbackTimezone: null,
  },
  firstMessage: null,
  variables: null,
  calendar: { hours: null, closedOn: [] },
  law: [],
  caps: [],
  startsAt: null,
  endsAt: null,
  retry: {
    maxAttempts: 3,
    maxAttemptsPerNumber: null,
    resetAfterMs: null,
    jitterMs: 0,
    delays: defaultRetryDelays,
    maxUncounted: 3,
  },
  pacing: {
    maxConcurrentCalls: 10,
    startsPerMinute: null,
    batchSize: 10,
    refillThreshold: 1,
    warmUpMs: 0,
    priority: 10,
  },
  optOut: [],
  breaker: null,
  preDial: null,
  onCompletion: null,
  onPause: null,
  dispositions: [],
  correlation: { calleeNumber: [], batchId: [], reference: [] },
  sharedWords: 'wait',
  timing: {
    dispatchMarginMs: 0,
    settleMs: 1_800_000,
    analysisWaitMs: 0,
    lateDeliveryMs: 0,
    lateLookbackMs: 60_000,
    pollMs: 10_000,
    clockToleranceMs: 300_000,
    ringLimitMs: 60_000,
  },
};

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
