import { expect } from 'vitest';
import { readCampaignRows } from '../../../src/ledger/read/campaign-rows.ts';
import { readWaiting } from '../../../src/ledger/read/waiting.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { answered, noon, numbers, guests } from '../scenario.ts';
import { test, beginOn } from '../ledger-test.ts';

const nineToFive = { from: 9 * 60, to: 17 * 60 };

test('waiting rows are counted by what keeps them, and found by it', async (dialect) => {
  const hours = { mon: [nineToFive], tue: [nineToFive], wed: [nineToFive] };
  const zones = ['Europe/London', 'America/Los_Angeles', 'Europe/London', 'Asia/Tokyo', 'America/Los_Angeles'];
  const rows = guests(5).map((row, index) => ({
    ...row,
    zones: [zones[index] ?? ''],
    ...(index === 2 ? { notBefore: noon + hourMs } : {}),
  }));
  const scenario = await beginOn(dialect, { rules: { calendar: { hours, closedOn: [] }, pacing: { batchSize: 1 } }, rows });
  const { db } = scenario.store;
  const campaign = await scenario.campaign();
  expect(await readWaiting(db, campaign, noon)).toEqual([
    { rule: 'due', rows: 4, from: noon, to: noon },
    { rule: 'not_before', rows: 1, from: noon + hourMs, to: noon + hourMs },
  ]);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [
    { ...answered('conv_1', numbers(1)[0] ?? '', noon + 5_000), callResult: 'busy', userTurns: 0, agentTurns: 0 },
  ]);
  await scenario.plan(2, noon + 2 * minuteMs);

  const now = noon + 3 * minuteMs;
  const waiting = await readWaiting(db, campaign, now);
  expect(waiting.map(({ rule, rows: count }) => [rule, count])).toEqual([
    ['outside_hours', 3],
    ['not_before', 1],
    ['retry', 1],
  ]);
  // Nine in Los Angeles, and nine of the next day in Tokyo.
  expect(new Date(waiting[0]?.from ?? 0).toISOString()).toBe('2030-01-15T17:00:00.000Z');
  expect(new Date(waiting[0]?.to ?? 0).toISOString()).toBe('2030-01-16T00:00:00.000Z');
  for (const { rule, rows: count } of waiting)
    expect(await readCampaignRows(db, 'spring', { waitingFor: rule }, now), rule).toHaveLength(count);
  expect(await readCampaignRows(db, 'spring', { waitingFor: 'due' }, now)).toEqual([]);
});
