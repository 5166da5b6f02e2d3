import { expect, test } from 'vitest';
import { scheduledCampaignId, longestRecurringId, placeholderValuesOf } from '../../../src/rules/hours/firing-time.ts';

const newYork = 'America/New_York';
const at = (iso: string): number => Date.parse(iso);

test.each([
  { time: '2026-11-21T14:00:00Z', zone: newYork, id: 'reminders-2026-11-21t0900' },
  { time: '2026-11-21T14:00:00Z', zone: 'UTC', id: 'reminders-2026-11-21t1400' },
  // The date is that of the zone.
  { time: '2026-12-31T23:30:00Z', zone: 'Asia/Tokyo', id: 'reminders-2027-01-01t0830' },
  // A trigger by hand comes at any second.
  { time: '2026-11-21T14:00:07Z', zone: newYork, id: 'reminders-2026-11-21t090007' },
  { time: '2026-11-21T14:00:00.900Z', zone: newYork, id: 'reminders-2026-11-21t0900' },
  // Clocks go back: 01:30 comes twice.
  { time: '2026-11-01T05:30:00Z', zone: newYork, id: 'reminders-2026-11-01t0130' },
  { time: '2026-11-01T06:30:00Z', zone: newYork, id: 'reminders-2026-11-01t0130b' },
])('the firing of $time in $zone starts $id', ({ time, zone, id }) => {
  expect(scheduledCampaignId('reminders', at(time), zone)).toBe(id);
});

test('two firings never share an id, through both changes of the clocks', () => {
  const ids = new Set<string>();
  const hours = 24 * 400;
  for (let hour = 0; hour < hours; hour += 1) ids.add(scheduledCampaignId('r', at('2026-01-01T00:30:00Z') + hour * 3_600_000, newYork));
  expect(ids.size).toBe(hours);
});

test('the longest id that may recur gives a campaign id of at most 64 characters', () => {
  const id = scheduledCampaignId('r'.repeat(longestRecurringId), at('2026-11-01T06:30:59Z'), newYork);
  expect(id).toMatch(/^[a-z0-9][a-z0-9._-]{0,63}$/);
  expect(id).toHaveLength(64 - 1);
});

test('the words of a firing are its local time', () => {
  expect(placeholderValuesOf(at('2026-01-02T13:05:00Z'), newYork)).toEqual({
    date: '2026-01-02',
    time: '0805',
    year: '2026',
    month: '01',
    day: '02',
    hour: '08',
    minute: '05',
    weekday: 'fri',
  });
});
