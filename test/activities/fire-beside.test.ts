import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities } from '../../activities/index.ts';
import type { ServiceClock } from '../../src/convai/service-clock.ts';
import { changeCampaignState, listCampaigns } from '../../src/ledger/rows/campaigns.ts';
import type { Store } from '../../src/ledger/open-ledger.ts';
import { findGoingFiring, firingCampaigns, lastFiring, putSchedule } from '../../src/ledger/campaign/schedules.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { noon } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { asActivity } from '../support/activity-context.ts';
import { hourMs } from '../support/campaign-rules.ts';

const schedule = { scheduleId: 'carillon/carillon/daily', campaignId: 'daily' };
const service = 'http://service';
const dayMs = 24 * hourMs;

/** A schedule with a list of two rows, and what fires it on the nth day. */
async function daily(store: Store, accountId = service) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-fire-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'list.csv'), 'phone\n+12125550142\n+12125550143\n');
  const content = [
    'id: daily',
    'agent_id: agent_reminders',
    'from_phone_number_id: pn_main',
    'list: { file: list.csv, phone: phone, default_region: US }',
    'hours: any',
    'law: off',
  ].join('\n');
  const filePath = join(folder, 'campaign.yaml');
  await putSchedule(store, {
    ...schedule,
    filePath,
    content,
    listSource: 'list.csv',
    accountId: service,
    createdAt: noon,
  });
  let now = noon;
  const clock = { speed: 1, now: () => now, toRealMs: (ms: number) => ms } as ServiceClock;
  const { fireSchedule, noteFiringFailure } = createActivities({
    store,
    accountId,
    serviceClock: async () => clock,
    logger: pino({ level: 'silent' }),
    nowReal: () => now,
    stopping: new AbortController().signal,
    limits: { heartbeatEveryMs: 1_000 },
  } as ActivityDependencies);
  /** As its workflow does: the reason of a firing that came to nothing is noted. */
  return async (day: number): Promise<string> => {
    now = noon + day * dayMs;
    const firing = { scheduleId: schedule.scheduleId, scheduledAt: now, timeZone: 'UTC', catchUpMs: 600_000 };
    try {
      return (await asActivity(() => fireSchedule(firing))).campaignId;
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      await noteFiringFailure({ ...firing, reason: error.message });
      return `${error.nonRetryable === true ? 'for good' : 'for now'}: ${error.message}`;
    }
  };
}

const first = 'daily-2030-01-15t1200';
const skipped = (state: string) =>
  `for good: Skipped: campaign ${first} of an earlier firing is ${state}. When nothing of it moves: carillon schedule continue daily.`;

test.for(dialects)(
  'a firing is skipped while the campaign of an earlier one has not ended, whatever its workflow says: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const fire = await daily(store);
    expect(await fire(0)).toBe(first);
    // The same firing, tried again.
    expect(await fire(0)).toBe(first);
    expect(await fire(1)).toBe(skipped('running'));
    await changeCampaignState(store.db, first, 'paused', 'paused by a person', noon);
    // The last firing that the log tells of has no campaign by now.
    expect(await lastFiring(store.db, 'daily', schedule.scheduleId)).toMatchObject({
      campaignId: 'daily-2030-01-16t1200',
      failure: skipped('running').replace('for good: ', ''),
    });
    for (let day = 2; day < 30; day += 1) expect(await fire(day)).toBe(skipped('paused'));
    await changeCampaignState(store.db, first, 'draining', null, noon);
    expect(await fire(30)).toBe(skipped('draining'));
    expect((await listCampaigns(store.db)).map(({ campaignId }) => campaignId)).toEqual([first]);

    await changeCampaignState(store.db, first, 'completed', null, noon);
    expect(await findGoingFiring(store.db, schedule)).toBeUndefined();
    const second = 'daily-2030-02-15t1200';
    expect(await fire(31)).toBe(second);
    expect((await firingCampaigns(store.db, schedule)).map(({ campaignId }) => campaignId)).toEqual([second, first]);

    // An earlier one is retried while the last one has ended.
    await changeCampaignState(store.db, second, 'failed', null, noon);
    await changeCampaignState(store.db, first, 'running', null, noon);
    expect(await fire(32)).toBe(skipped('running'));
  },
);

test.for(dialects)('campaigns of other schedules, and those of no firing, skip nothing: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const fire = await daily(store);
  expect(await fire(0)).toBe(first);
  expect(await findGoingFiring(store.db, { ...schedule, scheduleId: 'carillon/other/daily' })).toBeUndefined();
  expect(await findGoingFiring(store.db, { ...schedule, campaignId: 'dail' })).toBeUndefined();
  await store.db.updateTable('campaigns').set({ campaign_id: 'daily-test-1' }).execute();
  expect(await findGoingFiring(store.db, schedule)).toBeUndefined();
  expect(await fire(1)).toBe('daily-2030-01-16t1200');
});

test('a worker of another service takes no firing: its list would be dialled there', async () => {
  const store = await openCleanStore('sqlite');
  const fire = await daily(store, 'http://127.0.0.1:4010');
  expect(await fire(0)).toBe(
    'for now: The schedule of daily was made for the service at http://service, and SVC_BASE_URL of the worker is http://127.0.0.1:4010: set it to that service, and restart the worker.',
  );
  expect(await listCampaigns(store.db)).toEqual([]);
});
