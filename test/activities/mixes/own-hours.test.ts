import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { isWithin } from '../../judge/judge-calls.ts';
import { buildRow, buildRules, hourMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import type { Mix } from '../../world/mix.ts';
import type { ImportRow } from '../../../src/ledger/campaign/import-row.ts';

/** Noon of the days before clocks change in one of the zones: in spring and in autumn. */
const eves = ['2030-03-09', '2030-11-02', '2030-03-30', '2030-10-26'].map((day) => Date.parse(`${day}T12:00:00Z`)) as [number, ...number[]];
const places: [string[], ...string[][]] = [
  ['America/New_York'],
  ['America/Phoenix'],
  ['Europe/London'],
  ['America/New_York', 'America/Chicago'],
];
/** Around the hour that is skipped or comes twice, over midnight, on single days. */
const kinds: [string | null, ...string[]] = [
  null, '01:30-03:30', 'Sun 02:00-04:30', 'Sat-Sun 22:00-02:00', '00:00-01:20', 'Sun 00:45-02:15, Mon 10:00-12:00', '14:00-16:00',
]; // prettier-ignore
const allWeek = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [{ from: 60, to: 1380 }]]));

function drawRows(random: Random): ImportRow[] {
  const people = drawPeople(random, { count: 12, optOutEvery: 9, answering: 0.4 });
  return people.map(({ e164, name }, index) => {
    const row = buildRow(index + 1, e164, [e164, name]);
    return { ...row, zones: random.pick(places), hours: random.pick(kinds) };
  });
}

test.for(seedsFrom(1, isFull ? 5 : 3))(
  'nobody is dialled outside the hours of their row, on days when clocks change: seed %i',
  async (seed) => {
    const random = new Random('own hours', seed);
    const rows = drawRows(random);
    const calendar = { hours: random.chance(0.5) ? allWeek : null, closedOn: [] };
    const begins = random.pick(eves);
    const rules = buildRules({ calendar, startsAt: begins, endsAt: begins + 72 * hourMs, pacing: { batchSize: random.pick([1, 4, 20]) } });
    const { faults, hangs } = random.chance(0.5) ? drawPostFaults(random) : { faults: [], hangs: [] };
    const mix: Mix = { seed, sandbox: { concurrency: 30 }, campaigns: [{ campaignId: 'first', rules, rows }], faults, hangs };
    const { trial, proven, violations } = await new Drive(mix).run();
    const ofNumber = new Map(rows.map((row) => [row.e164, row]));
    for (const { to, acceptedAt, dialedAt } of trial.calls) {
      const { zones = [], hours = null } = ofNumber.get(to) ?? {};
      for (const zone of hours === null ? [] : zones)
        for (const at of [acceptedAt, dialedAt ?? acceptedAt])
          expect(isWithin(hours ?? '', zone, at), `row of ${hours} in ${zone}, dialled ${new Date(at).toISOString()}`).toBe(true);
    }
    expect([...violations, ...proven]).toEqual([]);
    const called = new Set(trial.calls.map(({ to }) => to));
    // A request that was lost leaves its people in doubt. Else each had hours within those days, but for those of several zones, where the
    // hours of a short night are not open in both.
    if (faults.length + hangs.length > 0) return;
    const left = rows.filter(({ e164, zones, hours }) => !called.has(e164 ?? '') && zones.length === 1 && hours !== '00:00-01:20');
    expect(left).toEqual([]);
  },
);

test('the hours of a row are read by the judge as a person reads them', () => {
  const at = (text: string) => Date.parse(`2030-03-${text}Z`);
  // New York is five hours behind until the tenth at seven, and then four.
  const sunday: [hours: string, at: string, within: boolean][] = [
    ['14:00-16:00', '05T18:59', false],
    ['14:00-16:00', '05T19:00', true],
    ['14:00-16:00', '05T20:59', true],
    ['14:00-16:00', '05T21:00', false],
    ['14:00-16:00', '11T18:00', true],
    ['Mon-Fri 22:00-02:00, Sun 10:00-12:00', '09T06:59', true],
    ['Mon-Fri 22:00-02:00, Sun 10:00-12:00', '10T06:59', false],
    ['Mon-Fri 22:00-02:00, Sun 10:00-12:00', '10T14:00', true],
  ];
  expect(sunday.map(([hours, text]) => isWithin(hours, 'America/New_York', at(text)))).toEqual(sunday.map(([, , within]) => within));
});
