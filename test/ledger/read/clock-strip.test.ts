import { expect } from 'vitest';
import { readClockStrip } from '../../../src/ledger/read/clock-strip.ts';
import type { LegalHours } from '../../../src/rules/campaign-rules.ts';
import { buildRows, hourMs } from '../../support/campaign-rules.ts';
import { beginProven, noon, numbers } from '../scenario.ts';
import { beginOn, openLedger, test } from '../ledger-test.ts';

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

test.both.from(openLedger)('each zone shows its rows, its hours and its next opening', async (store) => {
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
  const nineInLosAngeles = noon + 5 * hourMs;
  const lawful = [{ from: noon - 4 * hourMs, to: noon + 20 * hourMs }];
  expect(zones).toEqual([
    {
      zone: london,
      rows: 3,
      isKnown: true,
      // The row that may be in Los Angeles too is never open in both zones: London closes as Los Angeles opens.
      open: 2,
      opensAt: null,
      closesAt: noon + 5 * hourMs - marginMinutes * 60_000,
      // A day by instants, from four hours ago: its reader may be in any zone.
      ahead: { open: [{ from: noon - 3 * hourMs, to: noon + 5 * hourMs - marginMinutes * 60_000 }], lawful },
    },
    {
      zone: losAngeles,
      rows: 2,
      isKnown: true,
      open: 0,
      opensAt: nineInLosAngeles,
      closesAt: null,
      ahead: { open: [{ from: nineInLosAngeles, to: nineInLosAngeles + 8 * hourMs - marginMinutes * 60_000 }], lawful },
    },
  ]);
  expect((await readClockStrip(store.db, campaign, nineInLosAngeles)).zones.map(({ open }) => open)).toEqual([0, 1]);
});

test.from(beginOn, {
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
})('law that closes earlier than the campaign is shown', async (scenario) => {
  const campaign = await scenario.campaign();
  const at = async (now: number) => (await readClockStrip(scenario.store.db, campaign, now)).zones;
  const ten = noon + 3 * hourMs;
  const [morning, holiday] = await at(ten);
  const fifteen = noon + 8 * hourMs - marginMinutes * 60_000;
  expect(morning).toMatchObject({ zone: newYork, rows: 3, open: 3, opensAt: null, closesAt: fifteen });
  expect(holiday).toMatchObject({ zone: losAngeles, open: 0, opensAt: ten + 26 * hourMs });
  const [afternoon] = await at(ten + 5 * hourMs);
  expect(afternoon).toMatchObject({ open: 1, opensAt: ten + 23 * hourMs, closesAt: fifteen + 2 * hourMs });
});

test('of more than 24 zones those with the most rows are shown, by name where they have as many, and the rest is counted', async (dialect) => {
  const store = await openLedger(dialect);
  const all = Intl.supportedValuesOf('timeZone').filter((zone) => zone.startsWith('America/'));
  const zones = all.slice(0, 27);
  const [few = '', , many = ''] = zones;
  // One zone has the most rows, and is not among the first by name.
  const rows = [...zones.toReversed(), many, many].map((zone) => ({ zones: [zone], regions: [] }));
  const scenario = await beginProven(store, { rows: rowsIn(rows) });
  const strip = await readClockStrip(store.db, await scenario.campaign(), noon);
  expect(strip.zones.map(({ zone }) => zone)).toEqual([many, few, ...zones.filter((zone) => zone !== few && zone !== many)].slice(0, 24));
  expect([strip.zones[0]?.rows, strip.more]).toEqual([3, 3]);
  const exactly = rowsIn(zones.slice(0, 24).map((zone) => ({ zones: [zone], regions: [] })));
  const other = await openLedger(dialect);
  const { zones: shown, more } = await readClockStrip(other.db, await (await beginProven(other, { rows: exactly })).campaign(), noon);
  expect([shown.length, more]).toEqual([24, 0]);
});

test.from(beginOn, {
  rules: { pacing: { batchSize: 2 } },
  rows: rowsIn([london, london, london].map((zone) => ({ zones: [zone], regions: [] }))),
})('nobody who waits no more is counted', async (scenario) => {
  await scenario.dial(1);
  expect((await readClockStrip(scenario.store.db, await scenario.campaign(), noon)).zones).toMatchObject([{ rows: 1, open: 1 }]);
});

test.from(openLedger)('a day has a stretch for each of its hours, and two that touch are one', async (store) => {
  const [morning, evening] = [
    { from: 9 * 60, to: 12 * 60 },
    { from: 14 * 60, to: 24 * 60 },
  ];
  const tuesday = [{ from: 0, to: 60 }, morning, evening];
  const scenario = await beginProven(store, {
    rules: {
      calendar: { hours: { tue: tuesday, wed: [{ from: 0, to: 60 }] }, closedOn: [] },
      // Two rows of each state, whose hours meet at ten: as many open before as after.
      law: [
        { ...law('us-fl', 'FL', 24 * 60), hours: { tue: [{ from: 0, to: 10 * 60 + marginMinutes }, evening] } },
        { ...law('us-oh', 'OH', 24 * 60), hours: { tue: [{ from: 10 * 60, to: 24 * 60 }] } },
      ],
    },
    rows: rowsIn([
      { zones: [london], regions: ['NY'] },
      { zones: [london], regions: ['FL'] },
      { zones: [london], regions: ['OH'] },
    ]),
  });
  const campaign = await scenario.campaign();
  const [zone] = (await readClockStrip(store.db, campaign, noon)).zones;
  const at = (hour: number): number => noon + (hour - 12) * hourMs;
  expect(zone?.ahead.open).toEqual([
    { from: at(9), to: at(12) - marginMinutes * 60_000 },
    // Until one o'clock of the next day for the first, until midnight less the margin for the others.
    { from: at(14), to: at(25) - marginMinutes * 60_000 },
  ]);
});

test.from(openLedger)('before its start and after its end a campaign itself keeps its rows', async (store) => {
  const startsAt = noon + 2 * hourMs;
  const endsAt = noon + 4 * hourMs;
  const scenario = await beginProven(store, {
    rules: { calendar: { hours, closedOn: [] }, startsAt, endsAt },
    rows: rowsIn([{ zones: [london], regions: [] }]),
  });
  const campaign = await scenario.campaign();
  expect(campaign.state).toBe('scheduled');
  expect((await readClockStrip(store.db, campaign, noon)).zones).toMatchObject([
    { open: 0, opensAt: startsAt, closesAt: null, ahead: { open: [{ from: startsAt, to: endsAt - marginMinutes * 60_000 }] } },
  ]);
  const going = { ...campaign, state: 'running' } as const;
  // The campaign's hours would let it go on; its end comes first.
  expect((await readClockStrip(store.db, going, startsAt)).zones).toMatchObject([
    { open: 1, opensAt: null, closesAt: endsAt - marginMinutes * 60_000 },
  ]);
  expect((await readClockStrip(store.db, going, endsAt)).zones).toMatchObject([{ open: 0, opensAt: null, closesAt: null }]);
});

test.from(openLedger)('rows in a zone that does not exist are never open, nor those that may be in it and in another', async (store) => {
  const nowhere = 'Mars/Olympus';
  const scenario = await beginProven(store, {
    rules: { calendar: { hours, closedOn: [] } },
    rows: rowsIn([
      { zones: [nowhere], regions: [] },
      { zones: [nowhere], regions: [] },
      { zones: [london, nowhere], regions: [] },
    ]),
  });
  const closed = { open: 0, opensAt: null, closesAt: null, ahead: { open: [] } };
  expect((await readClockStrip(store.db, await scenario.campaign(), noon)).zones).toMatchObject([
    { zone: nowhere, rows: 3, isKnown: false, ...closed },
    { zone: london, rows: 1, isKnown: true, ...closed },
  ]);
});

test.from(beginOn, {
  rules: { calendar: { hours, closedOn: ['2030-01-16'] } },
  rows: rowsIn([{ zones: [london], regions: [] }]),
})('a holiday closes the whole of its day', async (scenario) => {
  const campaign = await scenario.campaign();
  const nextTuesday = noon - 3 * hourMs + 7 * 24 * hourMs;
  for (const at of [noon + 6 * hourMs, noon + 24 * hourMs])
    expect((await readClockStrip(scenario.store.db, campaign, at)).zones).toMatchObject([{ open: 0, opensAt: nextTuesday }]);
});
