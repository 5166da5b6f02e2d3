import { expect, test } from 'vitest';
import { checkCallers } from '../../activities/check-callers.ts';
import { pauseCampaign } from '../../src/ledger/rows/campaigns.ts';
import { closeRound } from '../../src/ledger/campaign/rounds.ts';
import { beginCampaign, noon } from '../ledger/scenario.ts';
import { dialects, openTestStore } from '../ledger/test-stores.ts';
import { hourMs } from '../support/campaign-rules.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';

const campaignId = 'spring';

test.for(dialects)(
  'a campaign that is paused before its first check ends at its end, although nobody resumes it: %s',
  async (dialect) => {
    const store = await openTestStore(dialect);
    const endsAt = noon + hourMs;
    const scenario = await beginCampaign(store, { rules: { endsAt } });
    let now = noon;
    const deps = buildDependencies({ store, now: () => now, serviceClock: { speed: 60 } });
    await pauseCampaign(store, campaignId, 'the number is not verified', noon);
    expect(await checkCallers(deps, { campaignId })).toEqual({ ok: false, inMs: hourMs / 60, pausedAt: null });
    now = endsAt;
    expect(await checkCallers(deps, { campaignId })).toEqual({ ok: true });
    expect(await scenario.plan(1, now)).toEqual({ kind: 'done' });
    expect(await closeRound(store, campaignId, 1, now)).toBe(true);
    const outcomes = new Set((await scenario.recipients()).map(({ outcome }) => outcome));
    expect(outcomes).toEqual(new Set(['expired']));
  },
);

test('without an end only a person helps', async () => {
  const store = await openTestStore('sqlite');
  await beginCampaign(store);
  await pauseCampaign(store, campaignId, 'the number is not verified', noon);
  const deps = buildDependencies({ store });
  expect(await checkCallers(deps, { campaignId })).toEqual({ ok: false, inMs: null, pausedAt: null });
});
