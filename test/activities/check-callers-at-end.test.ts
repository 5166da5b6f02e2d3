import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { checkCallers } from '../../activities/check-callers.ts';
import type { ServiceClock } from '../../src/convai/service-clock.ts';
import { pauseCampaign } from '../../src/ledger/rows/campaigns.ts';
import { closeRound } from '../../src/ledger/campaign/rounds.ts';
import { beginCampaign, noon } from '../ledger/scenario.ts';
import { dialects, openTestStore } from '../ledger/test-stores.ts';
import { hourMs } from '../support/campaign-rules.ts';

const campaignId = 'spring';

test.for(dialects)(
  'a campaign that is paused before its first check ends at its end, although nobody resumes it: %s',
  async (dialect) => {
    const store = await openTestStore(dialect);
    const endsAt = noon + hourMs;
    const scenario = await beginCampaign(store, { rules: { endsAt } });
    let now = noon;
    const clock: ServiceClock = {
      speed: 60,
      sandbox: true,
      dialect: 'extended',
      now: () => now,
      toRealMs: (ms) => ms / 60,
      atReal: (instant) => instant,
    };
    const deps = { store, accountId: 'http://service', serviceClock: async () => clock } as ActivityDependencies;
    await pauseCampaign(store, { campaignId, now: noon }, { reason: 'the number is not verified' });
    expect(await checkCallers(deps, { campaignId })).toEqual({ ok: false, inMs: hourMs / 60, pausedAt: null });
    now = endsAt;
    expect(await checkCallers(deps, { campaignId })).toEqual({ ok: true });
    expect(await scenario.plan(1, now)).toEqual({ kind: 'done' });
    expect(await closeRound(store, { campaignId, now }, 1)).toBe(true);
    const outcomes = new Set((await scenario.recipients()).map(({ outcome }) => outcome));
    expect(outcomes).toEqual(new Set(['expired']));
  },
);

test('without an end only a person helps', async () => {
  const store = await openTestStore('sqlite');
  await beginCampaign(store);
  const clock = { now: () => noon } as ServiceClock;
  await pauseCampaign(store, { campaignId, now: noon }, { reason: 'the number is not verified' });
  const deps = { store, accountId: 'http://service', serviceClock: async () => clock } as ActivityDependencies;
  expect(await checkCallers(deps, { campaignId })).toEqual({ ok: false, inMs: null, pausedAt: null });
});
