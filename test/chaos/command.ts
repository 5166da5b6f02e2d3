import { parseArgs } from 'node:util';
import { serviceApis } from '../../src/rules/service-api.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { chooseCases, describeCase } from './design.ts';
import { Place } from './places.ts';
import { emptyWeaves, formatWeaves, runCase, runSeed, type Weaves } from './run-weaves.ts';
import { scenariosOf } from './scenarios.ts';

export const databases = ['sqlite', 'postgres'] as const;

export const help = `Disturbs small campaigns at each of their effects and judges them by the service's own call log.

Usage:
  npm run chaos -- [--every N | --per-cell N] [--scenario NAME]   every interleaving by design, or a part of them
  npm run chaos -- --seeds N [--seed K]                           campaigns that are disturbed up to four times each

Options:
  --api A            by which API the service is asked for calls: ${serviceApis.join(', ')} (default: contract)
  --database D       ${databases.join(' or ')} (default: both)
  --every N          one case of the design in N (default: 1, all of them)
  --per-cell N       N cases for each change of state and each kind of disturbance
  --scenario NAME    of the design, one scenario (test/chaos/scenarios.ts)
  --part I/N         the I-th of N parts, for as many processes beside each other
  --seeds N          so many seeds, in place of the design
  --seed K           the first seed (default: 1)

Examples:
  npm run chaos -- --per-cell 1                   each change of state disturbed in each way
  npm run chaos -- --every 100 --part 1/2         one case in two hundred, wherever they fall
  npm run chaos -- --scenario "answer lost" --database sqlite
  npm run chaos -- --seeds 1 --seed 42            seed 42 again, shrunk and told if it breaks a promise

What breaks a promise is told on stderr at once; a seed is shrunk before that, in at most 60 campaigns and two minutes. Ctrl-C ends a run with
the figures so far. Larger campaigns and the production shape are played by npm run soak.
Exits with 0 if no promise was broken, with 1 if one was, and with 2 on wrong usage.
`;

/** Thrown when the flags do not say what to run. */
export class WrongUsageError extends Error {
  override readonly name = 'WrongUsageError' as const;
}

function splitFlags(args: readonly string[]) {
  const [string, boolean] = [{ type: 'string' } as const, { type: 'boolean', default: false } as const];
  const options = {
    api: string, database: string, every: string, 'per-cell': string, scenario: string, part: string, seeds: string, seed: string, help: boolean,
  }; // prettier-ignore
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new WrongUsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text))
    throw new WrongUsageError(`--${flag} takes a whole number from 1, not "${text}".`);
  return text === undefined ? undefined : Number(text);
}

function oneOf<Name extends string>(flag: string, text: string, known: readonly Name[]): Name {
  const found = known.find((name) => name === text);
  if (found === undefined) throw new WrongUsageError(`--${flag} is "${text}"; it must be one of ${known.join(', ')}.`);
  return found;
}

/** What the command is to do; null: print its help. Throws `WrongUsageError`. */
export function parseFlags(args: readonly string[]) {
  const flags = splitFlags(args);
  if (flags.help) return null;
  const api = oneOf('api', flags.api ?? 'contract', serviceApis);
  const [every, perCell] = [wholeNumber('every', flags.every), wholeNumber('per-cell', flags['per-cell'])];
  const [count, from] = [wholeNumber('seeds', flags.seeds), wholeNumber('seed', flags.seed)];
  const [, part = '1', parts = '1'] = /^(\d+)\/(\d+)$/.exec(flags.part ?? '1/1') ?? [null, '0'];
  if (Number(part) < 1 || Number(part) > Number(parts)) throw new WrongUsageError(`--part is a part such as 1/2, not "${flags.part}".`);
  if (every !== undefined && perCell !== undefined)
    throw new WrongUsageError('--every and --per-cell both say which cases are run: give one of them.');
  if (count === undefined && from !== undefined) throw new WrongUsageError('--seed goes with --seeds.');
  if (count !== undefined && (every ?? perCell ?? flags.scenario) !== undefined)
    throw new WrongUsageError('--every, --per-cell and --scenario are for the design: leave --seeds out.');
  const chosen = scenariosOf(api).filter(({ name }) => flags.scenario === undefined || name === flags.scenario);
  if (chosen.length === 0) throw new WrongUsageError(`There is no scenario "${flags.scenario}".`);
  return {
    api,
    databases: flags.database === undefined ? databases : [oneOf('database', flags.database, databases)],
    design: count === undefined ? { scenarios: chosen, choice: perCell === undefined ? { every: every ?? 1 } : { perCell } } : null,
    seeds: count === undefined ? [] : Array.from({ length: count }, (_, index) => (from ?? 1) + index),
    isOurs: (index: number) => index % Number(parts) === Number(part) - 1,
  };
}

/** A small campaign takes a fraction of a second, and one that is shrunk some sixty times as long. */
const longestMs = 3 * 60_000;
const sayEveryMs = 30_000;

interface Watch {
  /** Hears of each broken promise. */
  tell: (story: string) => void;
  /** Hears how far it is, now and then. */
  progress: (line: string) => void;
  /** Ends it after the campaign that is running, with what there is. */
  stop: AbortSignal;
}

/** Runs what the flags say; answers the figures, and whether a promise was broken. */
export async function runChaos(asked: NonNullable<ReturnType<typeof parseFlags>>, watch: Watch) {
  const texts: string[] = [];
  let broken = 0;
  for (const database of asked.databases) {
    if (watch.stop.aborted) break;
    const server = database === 'postgres' ? await startPostgresServer() : undefined;
    try {
      const begunAt = performance.now();
      const { weaves, end } = await runOn(server, asked, watch);
      broken += weaves.broken.length;
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      texts.push(`${database}, ${seconds} s${end}: ${formatWeaves(weaves)}`, weaves.matrix.format());
    } finally {
      await server?.stop();
    }
  }
  return { text: texts.join('\n\n'), isBroken: broken > 0 };
}

async function runOn(
  server: PostgresServer | undefined,
  asked: NonNullable<ReturnType<typeof parseFlags>>,
  { tell, progress, stop }: Watch,
) {
  const { api, design, seeds, isOurs } = asked;
  let places = 0;
  const openPlace = async (): Promise<Place> => Place.open({ databaseUrl: await server?.createDatabase(`chaos_${(places += 1)}`), api });
  let place = await openPlace();
  const weaves = emptyWeaves(api);
  const cases = design === null ? [] : await chooseCases(place, design.scenarios, design.choice);
  const units: readonly (readonly [name: string, run: (weaves: Weaves) => Promise<void>])[] = [
    ...cases.map((each) => [describeCase(each), (to: Weaves) => runCase(place, each, to)] as const),
    ...seeds.map((seed) => [`seed ${seed}`, (to: Weaves) => runSeed(place, seed, to, stop)] as const),
  ].filter((_, index) => isOurs(index));
  let [done, saidAt] = [0, performance.now()];
  for (const [name, run] of units) {
    if (stop.aborted) break;
    const before = weaves.broken.length;
    if (!(await isInTime(run(weaves)))) {
      weaves.broken.push(`${name}: no end after ${longestMs / 1000} s`);
      place = await openPlace();
    }
    for (const story of weaves.broken.slice(before)) tell(story);
    done += 1;
    if (performance.now() < saidAt + sayEveryMs) continue;
    saidAt = performance.now();
    progress(`${done} of ${units.length}, ${weaves.broken.length} broken`);
  }
  await place.close();
  return { weaves, end: done < units.length ? `, broken off after ${done} of ${units.length}` : '' };
}

/** What never ends is left behind: it has a database and a service of its own. */
async function isInTime(work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), longestMs)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
