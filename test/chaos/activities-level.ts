import type { ServiceApi } from '../../src/rules/service-api.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { asReported, drawMix, drawTangledMix } from '../world/inputs/draw-mix.ts';
import type { CampaignPlan, Mix } from '../world/mix.ts';
import { Coverage, runMixes } from '../world/run-mixes.ts';
import { startPostgresServer } from '../support/postgres-server.ts';
import { drawWorld, type World } from '../world/inputs/draw-world.ts';
import { runWorlds } from '../world/run-worlds.ts';
import type { DatabaseKind, LevelResult, Watch } from './ledger-level.ts';
import { notSmallest, shrink, without, type Shrunk } from './shrink.ts';
import { mostLines } from './story.ts';

export interface ActivitiesLevel {
  api: ServiceApi;
  database: DatabaseKind;
  seeds: { from: number; count: number };
}

/** A campaign under faults, and the world that it happens in, where it has one. */
interface Disturbed {
  mix: Mix;
  world: World | null;
}

interface Broken {
  rule: string;
  lines: string[];
}

/** In turn: a mix of faults; one in which records are hard to tell apart as well; a world in which records say too little. */
function drawDisturbed(seed: number, { api, databaseUrl }: { api: ServiceApi; databaseUrl: string | undefined }): Disturbed {
  if (seed % 3 === 0) {
    const world = drawWorld(seed, undefined, { databaseUrl, api });
    return { mix: world.mix, world };
  }
  const drawn = seed % 3 === 1 ? drawMix(seed) : drawTangledMix(seed);
  const mix = api === 'contract' ? drawn : asReported(drawn, api, new Random('chaos', api, seed));
  return { mix: databaseUrl === undefined ? mix : { ...mix, databaseUrl }, world: null };
}

async function runOne({ mix, world }: Disturbed): Promise<Broken | null> {
  let broken: string[];
  try {
    if (world === null) broken = await runMixes([mix], new Coverage());
    else ({ broken } = await runWorlds([{ ...world, mix }]));
  } catch (error) {
    const rule = 'the run fails';
    return { rule, lines: [`${rule}: ${(error as Error).message}`] };
  }
  const [text] = broken;
  if (text === undefined) return null;
  const lines = text.split('\n');
  return { rule: (lines[1] ?? '').trim().split(':')[0] ?? '', lines };
}

/** Each list of what happens, with less in it; then fewer rows. */
function* smallerMixes({ mix, world }: Disturbed): Generator<Disturbed> {
  const lists = ['strikes', 'faults', 'hangs', 'sweepDuring', 'events', 'campaigns'] as const;
  for (const key of lists)
    for (const less of without<unknown>(mix[key] ?? []))
      if (key !== 'campaigns' || less.length > 0) yield { world, mix: { ...mix, [key]: less } };
  if (mix.readOutage) yield { world, mix: { ...mix, readOutage: null } };
  for (const campaign of mix.campaigns)
    for (const rows of without(campaign.rows)) {
      if (rows.length === 0) continue;
      const fewer: CampaignPlan = { ...campaign, rows: rows.map((row, index) => ({ ...row, row: index + 1 })) };
      yield { world, mix: { ...mix, campaigns: mix.campaigns.map((each) => (each === campaign ? fewer : each)) } };
    }
}

/** What happens in it, as counts by kind. */
function* kindsOf({ strikes = [], faults = [], hangs = [], readOutage, events = [] }: Mix): Generator<string> {
  for (const { point } of strikes) yield point;
  for (const { operation, effect } of faults) yield `${effect.type} of ${operation}`;
  for (const { work } of hangs) yield `POST hangs, works ${work}`;
  if (readOutage) yield 'every read fails for an hour or more';
  for (const _ of events) yield 'event around the service';
}

function tell(seed: number, { thing, result, isSmallest }: Shrunk<Disturbed, Broken>): string {
  const { mix, world } = thing;
  const kind = world === null ? 'mix' : `world ${world.name}`;
  const rows = mix.campaigns.map((campaign) => campaign.rows.length).join(' and ');
  const left = [...kindsOf(mix)].join(', ');
  const how = isSmallest ? '' : `, ${notSmallest}`;
  return [`seed ${seed}, ${kind}, ${rows} rows${how}; what is left of it: ${left === '' ? 'no fault' : left}`]
    .concat(result.lines)
    .slice(0, mostLines)
    .join('\n');
}

/** What comes of it, or null once the time is over: what runs on then has a service and a database of its own. */
function unlessOver<Result>(over: AbortSignal, work: Promise<Result>): Promise<Result | null> {
  const given = new Promise<null>((resolve) => {
    if (over.aborted) resolve(null);
    else over.addEventListener('abort', () => resolve(null), { once: true });
  });
  return Promise.race([work, given]);
}

/** Runs whole campaigns through the activities under drawn faults. */
export async function runActivitiesLevel(
  { api, database, seeds: { from, count } }: ActivitiesLevel,
  { progress, stop }: Watch,
): Promise<LevelResult> {
  const server = database === 'postgres' ? await startPostgresServer() : undefined;
  let databases = 0;
  let run = 0;
  const newDatabase = async (): Promise<string | undefined> => server?.createDatabase(`seed_${(databases += 1)}`);
  const kinds = new Map<string, number>();
  const broken: string[] = [];
  const begunAt = performance.now();
  try {
    for (let seed = from; seed < from + count && !stop.aborted; seed += 1, run += 1) {
      const thing = drawDisturbed(seed, { api, databaseUrl: await newDatabase() });
      for (const kind of kindsOf(thing.mix)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const result = await runOne(thing);
      if (result !== null) {
        const breaks = async ({ mix, world }: Disturbed): Promise<Broken | null> => {
          const databaseUrl = await newDatabase();
          const again = await runOne({ world, mix: databaseUrl === undefined ? mix : { ...mix, databaseUrl } });
          return again?.rule === result.rule ? again : null;
        };
        const tryLess = (less: Disturbed, over: AbortSignal) => unlessOver(over, breaks(less));
        const story = tell(seed, await shrink({ thing, result }, smallerMixes, tryLess, stop));
        progress.tell(story);
        broken.push(story);
      }
      progress.update(database, { done: seed - from + 1, of: count, broken: broken.length });
    }
  } finally {
    await server?.stop();
  }
  const drawn = [...kinds].toSorted(([, a], [, b]) => b - a).map(([kind, times]) => `${kind} ${times}`);
  const name = database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const seconds = Math.round((performance.now() - begunAt) / 1000);
  return {
    figures: [`${name}, ${seconds} s: seeds ${from} to ${from + run - 1}, ${broken.length} broken`, `Drawn: ${drawn.join(', ')}`].join(
      '\n',
    ),
    broken,
  };
}
