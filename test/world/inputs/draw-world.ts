import type { ServiceApi } from '../../../src/rules/service-api.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { drawPostFaults, drawStrikes } from './draw-mix.ts';
import type { Mix } from '../mix.ts';
import type { CampaignRules } from '../../../src/rules/campaign-rules.ts';
import { askingResult, buildRow, buildRules, hourMs, minuteMs, talkResults } from '../../support/campaign-rules.ts';
import { template } from './around.ts';
import { kinds, type Traits } from './kinds.ts';
import { reportedKinds, reportingSide, type ReportedSide } from './reporting.ts';
import { drawPeople, type Crowd, type Person } from '../population.ts';

/** Records that come later than this after the call are stragglers, unless everything newer is as late. */
export const settleMs = 15 * minuteMs;

export interface World {
  name: string;
  seed: number;
  api: ServiceApi;
  /** Its calls can be told apart, so almost nothing may be left in doubt. */
  apart: boolean;
  people: Person[];
  mix: Mix;
  /** Beyond what holds with every service; null with the contract's. */
  reported: Omit<ReportedSide, 'mix'> | null;
}

function worldNamesOf(api: ServiceApi): string[] {
  return Object.keys(api === 'contract' ? kinds : { ...kinds, ...reportedKinds });
}

export function nameOfSeed(seed: number, api: ServiceApi): string {
  const names = worldNamesOf(api);
  return names[seed % names.length] ?? '';
}

/** A world by seed or name (`given`). Two workers may share `databaseUrl`. What the contract draws is the same with each API. */
export function drawWorld(
  seed: number,
  given?: string,
  { databaseUrl, api = 'contract' }: { databaseUrl?: string | undefined; api?: ServiceApi } = {},
): World {
  const name = given ?? nameOfSeed(seed, api);
  const kind = kinds[name] ?? (api === 'contract' ? undefined : reportedKinds[name]);
  if (kind === undefined) throw new Error(`There is no world "${name}"; there are ${worldNamesOf(api).join(', ')}.`);
  const random = new Random('world', name, seed);
  const apart = kind.apart === true;
  const count = Math.floor(random.between(6, 13));
  const crowd: Crowd = { count, optOutEvery: 6, answering: 0.5, hasty: true, ...kind.crowd?.(random) };
  const people = drawPeople(random, crowd);
  const traits = kind.draw(random, people, databaseUrl !== undefined);
  const kills = !apart && (traits.kills === true || random.chance(0.3));
  // Drawn apart, too: in half of them one who will not come is called again.
  const results = new Random('asks', name, seed).chance(0.5) ? [askingResult, ...talkResults] : talkResults;
  // In half of them what a record tells of a talk is corrected once it is complete.
  const corrected = new Random('draft', name, seed).chance(0.5) ? { draft_analysis: 0.5 } : {};
  const drawn = buildMix(random, people, { ...traits, records: { ...traits.records, ...corrected }, results }, { apart, kills });
  // Drawn apart, so that it changes nothing else of a seed.
  const dialect = new Random('dialect', api, name, seed).chance(0.5) ? ({ dialect: 'published' } as const) : {};
  const { mix, ...reported } =
    api === 'contract' ? { mix: drawn } : reportingSide(drawn, { name, api, people, random: new Random('world', api, name, seed) });
  return {
    name,
    seed,
    api,
    apart,
    people,
    mix: {
      ...mix,
      sandbox: { ...mix.sandbox, ...(api === 'contract' ? {} : dialect) },
      seed: `${name} ${seed}`,
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
    },
    reported: 'graceMs' in reported ? reported : null,
  };
}

function buildMix(
  random: Random,
  people: Person[],
  traits: Traits & { results: NonNullable<CampaignRules['results']> },
  { apart, kills }: { apart: boolean; kills: boolean },
): Omit<Mix, 'seed'> {
  const postFaults = kills ? drawPostFaults(random) : { faults: [], hangs: [] };
  const { dialect = random.pick(['spec', 'extended']), firstMessage = template, records = {}, lateRings } = traits;
  const rules = buildRules({
    results: traits.results,
    firstMessage,
    list: { ...buildRules().list, columns: ['phone', 'name', 'n'] },
    pacing: {
      batchSize: apart ? 20 : random.pick([20, 5, 2]),
      refillThreshold: random.pick([5, 1]),
      ...(traits.concurrent === undefined ? {} : { maxConcurrentCalls: traits.concurrent }),
    },
    timing: { settleMs, lateLookbackMs: hourMs, pollMs: minuteMs },
  });
  const rows = people.map(({ e164, name }, index) => buildRow(index + 1, e164, [e164, name, String(index + 1)]));
  const late = rows.filter(() => random.chance(0.6)).map((row, index) => ({ ...row, row: index + 1 }));
  const refusals = (traits.faults ?? []).flatMap(({ nth }) => (typeof nth === 'number' ? [nth] : []));
  return {
    sandbox: {
      dialect,
      listOrder: apart || random.chance(0.8) ? 'newest_first' : 'oldest_first',
      concurrency: 30,
      meanTalkSeconds: random.pick([20, 60]),
      world: {
        records: { unanswered: apart ? 'full' : random.pick(['full', 'bare', 'none']), ...records },
        ...(lateRings === undefined ? {} : { late_rings: lateRings }),
      },
    },
    campaigns: [
      { campaignId: 'first', rules, rows },
      ...(traits.second === true && late.length > 0 ? [{ campaignId: 'second', rules, rows: late }] : []),
    ],
    faults: [...(traits.faults ?? []), ...postFaults.faults.filter(({ nth }) => !refusals.includes(nth as number))],
    hangs: postFaults.hangs.filter(({ nth }) => !refusals.includes(nth)),
    strikes: kills ? drawStrikes(random) : [],
    events: traits.events ?? [],
    ...(traits.workers === undefined ? {} : { workers: traits.workers }),
  };
}
