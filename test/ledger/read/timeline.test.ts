import { expect, test } from 'vitest';
import { readCourse } from '../../../src/ledger/read/timeline.ts';
import { adjustCampaign } from '../../../src/ledger/limits/adjustments.ts';
import { pauseCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

test.for(bothDialects)('a course tells starts, ends, open calls, limits, refusals and pauses: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect), {
    rules: { pacing: { maxConcurrentCalls: 4, batchSize: 4, refillThreshold: 1 } },
  });
  const { store } = scenario;
  expect(await readCourse(store.db, await scenario.campaign(), noon)).toBeNull();
  const [one = '', two = ''] = numbers(2);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', one, noon + 5_000), answered('conv_2', two, noon + 5_000)]);
  const at = { wish: { maxConcurrentCalls: 3 }, reset: false, now: noon + 2 * minuteMs };
  await adjustCampaign(store, 'spring', at);
  await scenario.plan(2, noon + 3 * minuteMs);
  await scenario.post(2, noon + 3 * minuteMs);
  await scenario.verdict(2, 'not_sent', { now: noon + 3 * minuteMs, status: 429, notBefore: noon + 4 * minuteMs });
  await pauseCampaign(store, { campaignId: 'spring', now: noon + 5 * minuteMs }, { reason: 'paused by a person' });

  const course = await readCourse(store.db, await scenario.campaign(), noon + 10 * minuteMs);
  const at0 = noon;
  const point = (offsetMs: number) => course?.points.find((each) => each.at === at0 + offsetMs);
  expect(course?.stepMs).toBe(10_000);
  expect(point(0)).toMatchObject({ starts: 4, ends: 0, open: 4, allowed: 4, limited: 0 });
  expect(point(minuteMs)).toMatchObject({ starts: 0, ends: 2, open: 2, allowed: 4 });
  // 429 halves the pace: one of three lines is left.
  expect(point(3 * minuteMs)).toMatchObject({ limited: 1, allowed: 1 });
  expect(course?.points.at(-1)).toMatchObject({ at: noon + 10 * minuteMs, open: 2 });
  expect(course?.pauses).toEqual([{ from: noon + 5 * minuteMs, to: null, reason: 'paused by a person' }]);
});

test.for(bothDialects)('however long a campaign lasts, its course has few points: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect));
  await scenario.dial(1);
  const course = await readCourse(scenario.store.db, await scenario.campaign(), noon + 20 * 24 * hourMs);
  expect(course?.stepMs).toBe(6 * hourMs);
  expect(course?.points.length).toBeLessThan(242);
  expect(course?.points.reduce((sum, { starts }) => sum + starts, 0)).toBe(6);
});
