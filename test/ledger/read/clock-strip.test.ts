import { expect, test } from 'vitest';
import { readClockStrip } from '../../../src/ledger/read/clock-strip.ts';
import type { LegalHours } from '../../../src/domain/campaign-rules.ts';
import { buildRows, hourMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginProven, noon, numbers } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

const nineToFive = { from: 9 * 60, to: 17 * 60 };
const hours = { tue: [nineToFive], wed: [nineToFive] };
const marginMinutes = 10;
const london = 'Europe/London';
const losAngeles = 'America/Los_Angeles';
const newYork = 'America/New_York';

function law(id: string, region: string | null, to: number, closedOn: string[] = []): LegalHours {
  const allWeek = { tue: [{ from: 8 * 60, to }], wed: [{ from: 8 * 60, to }] };
  return { id, country: 'US', region, hours: allWeek, closedOn, from: null, until: null, caps: [], source: 'test' };
}

function rowsIn(places: readonly { zones: string[]; regions: string[] }[]) {
  return buildRows(numbers(places.length), (n) => `Guest ${n}`).map((row, n) => ({ ...row, ...places[n] }));
}

test.for(dialects)('each zone shows its clock, its rows, its hours today and its next opening: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const ny = { regions: ['NY'] };
  const scenario = await beginProven(store, {
    rules: { calendar: { hours, closedOn: [] } },
    rows: rowsIn([
      { zones: [london], ...ny },
      { zones: [london], ...ny },
      { zones: [losAngeles], ...ny },
      { zones: [london, losAngeles], ...ny },
    ]),
  });
  const campaign = await scenario.campaign();
  const { zones, more } = await readClockStrip(store.db, campaign, noon);
  expect(more).toBe(0);
  const own = { rule: 'campaign', law: null, holiday: false } as const;
  const nineInLosAngeles = noon + 5 * hourMs;
  expect(zones).toEqual([
    {
      zone: london,
      rows: 3,
      wallMinutes: 12 * 60,
      // Of the row that may be in Los Angeles too, both zones are never open at once: London closes as Los Angeles opens.
      today: [{ from: 9 * 60, to: 17 * 60 - marginMinutes, rows: 2 }],
      open: 2,
      opensAt: null,
      opensThere: null,
      boundBy: [{ ...own, zone: losAngeles }],
    },
    {
      zone: losAngeles,
      rows: 2,
      wallMinutes: 4 * 60,
      today: [{ from: 9 * 60, to: 17 * 60 - marginMinutes, rows: 1 }],
      open: 0,
      opensAt: nineInLosAngeles,
      opensThere: { date: null, wallMinutes: 9 * 60 },
      boundBy: [{ ...own, zone: null }],
    },
  ]);
  // Each hour is that of the planner: who it would call then.
  expect((await readClockStrip(store.db, campaign, nineInLosAngeles)).zones.map(({ open }) => open)).toEqual([0, 1]);
});

test.for(dialects)('law that closes earlier than the campaign is shown, and is named: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, {
    rules: {
      calendar: { hours, closedOn: [] },
      law: [law('us', null, 21 * 60), law('us-fl', 'FL', 15 * 60), law('us-oh', 'OH', 20 * 60, ['2030-01-15'])],
    },
    rows: rowsIn([
      { zones: [newYork], regions: ['NY'] },
      { zones: [newYork], regions: ['FL'] },
      { zones: [newYork], regions: ['FL'] },
      { zones: [losAngeles], regions: ['OH'] },
    ]),
  });
  const campaign = await scenario.campaign();
  const at = async (now: number) => (await readClockStrip(store.db, campaign, now)).zones;
  const ten = noon + 3 * hourMs;
  const [morning, holiday] = await at(ten);
  const florida = { rule: 'law', law: 'us-fl', holiday: false, zone: null };
  expect(morning).toMatchObject({
    zone: newYork,
    rows: 3,
    today: [
      { from: 9 * 60, to: 15 * 60 - marginMinutes, rows: 3 },
      { from: 15 * 60 - marginMinutes, to: 17 * 60 - marginMinutes, rows: 1 },
    ],
    open: 3,
    opensAt: null,
    boundBy: [florida],
  });
  const ohio = { rule: 'law', law: 'us-oh', holiday: true, zone: null };
  expect(holiday).toMatchObject({ zone: losAngeles, today: [], open: 0, opensAt: ten + 26 * hourMs });
  expect(holiday?.boundBy).toContainEqual(ohio);
  const [afternoon] = await at(ten + 5 * hourMs);
  expect(afternoon).toMatchObject({
    open: 1,
    opensAt: ten + 23 * hourMs,
    opensThere: { date: '2030-01-16', wallMinutes: 9 * 60 },
    boundBy: [florida],
  });
});
