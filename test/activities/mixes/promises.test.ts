import { expect, test } from 'vitest';
import type { CallTruth } from '../../../src/sandbox/core/telephony/call-truth.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import type { CampaignRules } from '../../../src/rules/campaign-rules.ts';
import { serviceApis } from '../../../src/rules/service-api.ts';
import { buildRow, buildRules, collectedRule, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { isSoak, seedsFrom } from '../../support/depth.ts';
import { asReported, drawPostFaults, drawStrikes } from '../../world/inputs/draw-mix.ts';
import { Drive } from '../../world/drive.ts';
import { campaignOf, wallOf } from '../../world/judge/calls.ts';
import type { Call } from '../../world/judge/evidence.ts';
import { judge } from '../../world/judge/judge.ts';
import type { CampaignPlan, Mix } from '../../world/mix.ts';

const dayMs = 24 * hourMs;
/** Noon in New York; the night after, clocks go forward at two in all zones but one. */
const begins = Date.parse('2030-03-09T17:00:00Z');
const lateMs = 30 * minuteMs;
const zones: [string, ...string[]] = ['America/New_York', 'America/Chicago', 'America/Phoenix', 'America/Los_Angeles'];

/** What recipients say, and the wall-clock time they mean; null: undecidable. Independent of the program. */
const ways: readonly { say: string; wall?: string; instant?: string }[] = [
  { say: '2030-03-10 17:00', wall: '2030-03-10T17:00' },
  { say: '2030-03-10 09:00', wall: '2030-03-10T09:00' },
  // Skipped when clocks go forward.
  { say: '2030-03-10 02:30', wall: '2030-03-10T02:30' },
  { say: '2030-03-10T20:00:00-04:00', instant: '2030-03-11T00:00:00Z' },
  { say: '2030-03-09T23:00:00Z', instant: '2030-03-09T23:00:00Z' },
  { say: '2030-03-11T16:30', wall: '2030-03-11T16:30' },
  { say: 'when the cows come home' },
  { say: '2030-03-08 17:00', wall: '2030-03-08T17:00' },
];

/** The first instant after the talk at which the wall clock shows the time, or a later one where it never does. */
function meant({ wall, instant }: (typeof ways)[number], zone: string, toldAt: number): number | null {
  if (instant !== undefined) return Date.parse(instant) > toldAt ? Date.parse(instant) : null;
  if (wall === undefined || wall <= wallOf(toldAt, zone)) return null;
  let at = Math.ceil(toldAt / minuteMs) * minuteMs;
  while (wallOf(at, zone) < wall) at += wallOf(at, zone).slice(0, 13) < wall.slice(0, 13) ? 5 * minuteMs : minuteMs;
  while (wallOf(at - minuteMs, zone) >= wall) at -= minuteMs;
  return at;
}

interface Person {
  e164: string;
  zone: string;
  way: (typeof ways)[number];
}

const agentId = 'agent_callbacks';
const agent = {
  agent_id: agentId,
  name: 'Call backs',
  conversation_config: {
    tts: { voice_id: 'voice_calm' },
    agent: { first_message: 'Hello.', prompt: { prompt: 'You ask when to call back.' } },
  },
  platform_settings: {
    data_collection: {
      callback_at: { type: 'string' as const, description: 'When may we call you back?' },
      opt_out: { type: 'boolean' as const, description: 'Whether the person asked not to be called again.' },
    },
    overrides: { conversation_config_override: { agent: { first_message: true } } },
  },
};

function drawPeople(random: Random): Person[] {
  return Array.from({ length: 40 }, (_, index) => {
    const area = ['212', '312', '602', '213'][index % 4] ?? '212';
    return {
      e164: `+1${area}555${String(130 + index).padStart(4, '0')}`,
      zone: zones[index % 4] ?? zones[0],
      way: random.pick(ways as [never, ...never[]]),
    };
  });
}

function rulesFrom(startsAt: number): CampaignRules {
  return {
    ...buildRules({
      agentId,
      results: [
        collectedRule(
          'later',
          'callback_at',
          ways.flatMap(({ say }) => [say, `${say}.`]),
          { next: { kind: 'callback' } },
        ),
      ],
      callback: {
        at: { kind: 'at', key: 'callback_at' },
        lateMs,
        missed: 'ask',
        unclear: 'ask',
        most: 3,
        horizonMs: 14 * dayMs,
      },
      startsAt,
      endsAt: begins + 3 * dayMs,
      pacing: { batchSize: 5, refillThreshold: 5, maxConcurrentCalls: 8 },
      timing: { dispatchMarginMs: 10 * minuteMs },
    }),
  };
}

function drawMix(seed: number): { mix: Mix; people: Person[]; stallOn: (drive: Drive) => void } {
  const random = new Random('promises', seed);
  const people = drawPeople(random);
  // Every third world is full of namesakes, whose calls no words distinguish.
  const nameOf = ({ e164 }: Person) => (seed % 3 === 0 ? 'Guest' : `Guest ${e164.slice(-4)}`);
  const rowsOf = (some: readonly Person[]) =>
    some.map((person, at) => ({
      ...buildRow(at + 1, person.e164, [person.e164, nameOf(person)]),
      zones: [person.zone],
      regions: null,
    }));
  const campaigns: CampaignPlan[] = [
    { campaignId: 'first', rules: rulesFrom(begins), rows: rowsOf(people) },
    { campaignId: 'second', rules: rulesFrom(begins + 3 * hourMs), rows: rowsOf(people.filter((_, at) => at % 2 === 0)) },
    { campaignId: 'third', rules: rulesFrom(begins + 20 * hourMs), rows: rowsOf(people.filter((_, at) => at % 3 === 0)) },
  ];
  const isHard = seed % 2 === 0;
  const post = isHard ? drawPostFaults(random) : { faults: [], hangs: [] };
  // At 17:00 of the second day the service returns 429, and then the worker stalls for 40 minutes.
  const storm = {
    id: 'storm',
    operation: 'batch_calls' as const,
    nth: Array.from({ length: 16 }, (_, index) => 30 + index),
    effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 120 } as const,
  };
  let drive: Drive | undefined;
  const stall = { afterMs: 28 * hourMs + 50 * minuteMs, happen: async () => drive?.clock.pass(40 * minuteMs) };
  const mix: Mix = {
    seed: `promises ${seed}`,
    sandbox: {
      concurrency: 30,
      meanTalkSeconds: 40,
      fixture: { agents: [agent] },
      seedData: true,
      world: {
        people: people.map(({ e164, way }) => ({ number: e164, mood: 'friendly', answers: { callback_at: way.say } })),
      },
    },
    campaigns,
    faults: isHard ? [...post.faults, storm] : [],
    hangs: post.hangs,
    strikes: isHard ? drawStrikes(random) : [],
    events: isHard ? [stall] : [],
    workers: [(passedMs) => (isHard && passedMs > 25 * hourMs ? 900 : 0)],
  };
  return { mix, people, stallOn: (given) => (drive = given) };
}

/** Each talk and its callback if possible, at most three; the rest with the ledger's reason. */
function withPromises(people: readonly Person[], calls: readonly CallTruth[], told: ReadonlyMap<string, string[]>): Call[] {
  const made = new Map<string, number>();
  return calls.toSorted((a, b) => a.acceptedAt - b.acceptedAt).map((call) => {
    const { zone, way } = people.find(({ e164 }) => e164 === call.to) as Person;
    const due = call.result === 'answered' && call.endedAt !== null ? meant(way, zone, call.endedAt) : null;
    const key = `${campaignOf(call)} ${call.to}`;
    const before = made.get(key) ?? 0;
    if (due === null || due > begins + 3 * dayMs - 10 * minuteMs || before >= 3) return call;
    made.set(key, before + 1);
    return { ...call, again: { from: due - 1, until: due + lateMs, told: told.has(key) } };
  }); // prettier-ignore
}

const sums = new Map(serviceApis.map((api) => [api, { promises: 0, kept: 0 }]));

// A calm and a hard seed; each of the two published APIs runs one of them.
const usual = { contract: [1, 2], 'batch-calling': [2], campaigns: [1] };
const cases = serviceApis.flatMap((api) => seedsFrom(1, 2, usual[api]).map((seed) => ({ api, seed })));

test.for(cases)(
  'each promise of three campaigns is kept once in its time, or told, over a night in which clocks change: $api, seed $seed',
  async ({ api, seed }) => {
    const { mix: drawn, people, stallOn } = drawMix(seed);
    const mix = api === 'contract' ? drawn : asReported(drawn, api, new Random('reported promises', api, seed));
    const told = new Map<string, string[]>();
    const drive = new Drive({
      ...mix,
      atEnd: async () => {
        const rows = await drive.store.db.selectFrom('promises').selectAll().where('state', 'not in', ['open', 'kept']).execute();
        for (const row of rows) {
          const key = `${row.campaign_id} ${row.e164}`;
          told.set(key, [...(told.get(key) ?? []), `${row.state} ${row.reason}`]);
        }
      },
    });
    stallOn(drive);
    const { evidence, calls, proven, faults } = await drive.run();
    const asked = withPromises(people, calls, told);
    const found = judge({ ...evidence, calls: asked, faults: faults.filter((fault) => !fault.startsWith('conduct')) });
    expect([...found, ...proven]).toEqual([]);
    const sum = sums.get(api) ?? { promises: 0, kept: 0 };
    const isOne = ({ from, until }: NonNullable<Call['again']>, one: Call, { to, acceptedAt: at, requestId }: Call) =>
      to === one.to && at >= from && at < until && campaignOf({ requestId }) === campaignOf(one);
    for (const one of asked) {
      const { again } = one;
      if (again === undefined) continue;
      sum.promises += 1;
      sum.kept += asked.some((other) => isOne(again, one, other)) ? 1 : 0;
    }
  },
);

test.skipIf(isSoak).for(serviceApis)('most of them are kept: %s', (api) => {
  const { promises = 0, kept = 0 } = sums.get(api) ?? {};
  expect(promises).toBeGreaterThan(25);
  expect(kept / promises).toBeGreaterThan(0.7);
});
