import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import { buildRow, buildRules, hourMs } from '../../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../../support/depth.ts';
import { drawPeople } from '../../world/population.ts';
import { drawPostFaults } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import type { Mix } from '../../world/mix.ts';
import type { ImportRow } from '../../../src/ledger/campaign/row-hash.ts';

/** Noon of the days before clocks change in one of the zones, in spring and autumn. */
const eves = ['2030-03-09', '2030-11-02', '2030-03-30', '2030-10-26'].map((day) => Date.parse(`${day}T12:00:00Z`)) as [number, ...number[]];
const places: [string[], ...string[][]] = [
  ['America/New_York'],
  ['America/Phoenix'],
  ['Europe/London'],
  ['America/New_York', 'America/Chicago'],
];
/** Around the hour that is skipped or repeated, over midnight, on single days. */
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
    const { breaches, proven, calls } = await new Drive(mix).run();
    expect([...breaches, ...proven]).toEqual([]);
    const called = new Set(calls.map(({ to }) => to));
    // A lost request leaves its rows in doubt. Otherwise each had open hours, except where a row's several zones share no open hour.
    if (faults.length + hangs.length > 0) return;
    const left = rows.filter(({ e164, zones, hours }) => !called.has(e164 ?? '') && zones.length === 1 && hours !== '00:00-01:20');
    expect(left).toEqual([]);
  },
);
