import { expect, test } from 'vitest';
import { watchCampaign } from '../../../../src/interfaces/cli/access/watch-campaign.ts';
import { realClock } from '../../../../src/service/port/service-clock.ts';
import { pausedByPerson } from '../../../../src/rules/lifecycle.ts';
import { changeCampaignState } from '../../../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../../../ledger/clean-store.ts';
import { beginProven, noon } from '../../../ledger/scenario.ts';

const late = noon + 3_600_000;

test.each([
  { alone: true, reason: 'Three batches in a row.', resumeAt: null, stays: false },
  { alone: true, reason: 'Many calls failed.', resumeAt: late, stays: true },
  { alone: true, reason: pausedByPerson, resumeAt: null, stays: true },
  { alone: false, reason: 'Three batches in a row.', resumeAt: null, stays: true },
])('whoever watches a paused campaign waits for its end as long as it may come: %o', async (each) => {
  const { alone, reason, resumeAt, stays } = each;
  const { store, campaignId } = await beginProven(await openCleanStore('sqlite'));
  await store.transaction((tx) => changeCampaignState(tx, { campaignId, now: noon }, { to: 'paused', reason, resumeAt, wished: true }));
  const leaving = new AbortController();
  let shown = 0;
  const show = (): void => {
    shown += 1;
    if (shown === 2) leaving.abort();
  };
  const clock = async () => realClock(() => noon);
  const { campaign } = await watchCampaign({
    store, campaignId, clock, fromSeq: 0, view: { show }, leave: leaving.signal, alone,
  }); // prettier-ignore
  expect(campaign.state).toBe('paused');
  expect(shown > 1).toBe(stays);
});
