/** Plays drawn seeds of every engine of proof until the time is over: npm run soak -- --help */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { Random } from '../../src/sandbox/core/random.ts';
import { serviceApis } from '../../src/rules/service-api.ts';
import type { Played } from '../support/played.ts';
import { engines, promises, type Engine } from './engines.ts';

const help = `Plays drawn seeds of every engine of proof until the time is over, and judges each by the service's own call log.

Usage: npm run soak -- [--minutes N] [--promise P] [--api A] [--database D] [--seed S] [--write]

  --minutes N    how long new plays begin (default 60); those under way are let end
  --promise P    only the engines that show it: ${promises.join(', ')}
  --api A        only those that play it: ${serviceApis.join(', ')}
  --database D   only those on it: sqlite, postgres
  --seed S       what the seeds are drawn from (default: drawn, and printed)
  --write        adds a line to the table of soaks in docs/proof.md

Exits with 0 if every promise held, with 1 if one broke, and with 2 on wrong usage.
`;

const endOfTable = '<!-- end of soaks -->';

/** Adds a line to the table of soaks in docs/proof.md: date and commit, then these cells. */
async function recordSoak(cells: readonly (string | number)[]): Promise<void> {
  const root = join(import.meta.dirname, '../..');
  const path = join(root, 'docs/proof.md');
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const made = `${new Date().toISOString().slice(0, 10)}, ${commit}`;
  const [before = '', after] = readFileSync(path, 'utf8').split(endOfTable);
  if (after === undefined) throw new Error(`${path} has no mark ${endOfTable}.`);
  const text = `${before.trimEnd()}\n| ${[made, ...cells].join(' | ')} |\n\n${endOfTable}${after}`;
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}

function refuse(problem: string): never {
  process.stderr.write(`${problem} See npm run soak -- --help.\n`);
  process.exit(2);
}

function readFlags() {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean', default: false } as const;
  const options = { minutes: string, promise: string, api: string, database: string, seed: string, write: boolean, help: boolean };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(`${(error as Error).message.split('. ')[0]}.`);
  }
}

function readChoice(name: string, value: string | undefined, known: readonly string[]): string | undefined {
  if (value === undefined || known.includes(value)) return value;
  return refuse(`--${name} is "${value}"; it must be one of ${known.join(', ')}.`);
}

interface Totals extends Played {
  seeds: number;
}

/** The failed tests in Vitest's report. */
function readFailures(path: string): { name: string; why: string }[] {
  if (!existsSync(path)) return [{ name: 'the run itself', why: 'it ended without a report' }];
  interface Report {
    testResults: { status: string; message: string; assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[];
  }
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  return testResults.flatMap(({ status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [{ name: 'the file', why: message }];
    return failed.map(({ fullName, failureMessages }) => ({ name: fullName, why: failureMessages.join('\n').slice(0, 4_000) }));
  });
}

function readPlayed(path: string): Totals {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return addUp(lines.map((line) => ({ seeds: 1, ...(JSON.parse(line) as Played) })));
}

function addUp(totals: readonly Totals[]): Totals {
  const sum = { seeds: 0, campaigns: 0, calls: 0 };
  for (const each of totals) for (const key of ['seeds', 'campaigns', 'calls'] as const) sum[key] += each[key];
  return sum;
}

const flags = readFlags();
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}
const minutes = Number(flags.minutes ?? 60);
if (!(minutes > 0)) refuse(`--minutes is "${flags.minutes}"; it must be a number above 0.`);
const promise = readChoice('promise', flags.promise, promises);
const api = readChoice('api', flags.api, serviceApis);
const database = readChoice('database', flags.database, ['sqlite', 'postgres']);
const drawn = flags.seed ?? String(Math.floor(Math.random() * 1e9));
const random = new Random('soak', drawn);

const plays = ({ api: played, database: on, promises: shown }: Engine): boolean =>
  (promise === undefined || (shown as readonly string[]).includes(promise)) &&
  (api === undefined || played === 'all' || played === (api === 'contract' ? undefined : 'published')) &&
  (database === undefined || on === 'both' || on === (database === 'sqlite' ? undefined : database));
const chosen = engines.filter(plays);
if (chosen.length === 0) refuse('No engine plays that.');

const folder = mkdtempSync(join(tmpdir(), 'carillon-soak-'));
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const begunAt = performance.now();
const passedMinutes = (): number => (performance.now() - begunAt) / 60_000;
const byFile = new Map<string, Totals[]>();
let broken = 0;

async function play({ file }: Engine, nth: number): Promise<void> {
  const seed = Math.floor(random.between(1_000, 1e8));
  const [report, counts] = [join(folder, `${nth}.json`), join(folder, `${nth}.counts`)];
  const settings = { SOAK_SEED: String(seed), ...(database !== undefined && { DIALECTS: database }) };
  const child = spawn('npx', ['vitest', 'run', file, '--reporter=json', `--outputFile=${report}`], {
    env: { ...process.env, ...settings, SOAK_COUNTS: counts },
    stdio: 'ignore',
  });
  running.add(child);
  await new Promise((resolve) => child.once('close', resolve));
  running.delete(child);
  const more = readPlayed(counts);
  byFile.set(file, [...(byFile.get(file) ?? []), more]);
  for (const { name, why } of readFailures(report)) {
    broken += 1;
    const again = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
    process.stdout.write(`\nBROKEN ${name}\n${why}\nPlay it again: ${again.join(' ')} npx vitest run ${file}\n\n`);
  }
  process.stderr.write(
    `${Math.floor(passedMinutes())} of ${minutes} min, ${file} from seed ${seed}: ${more.seeds} plays, ${broken} broken\n`,
  );
}

process.stdout.write(`Seeds are drawn from --seed ${drawn}.\n`);
let nth = 0;
async function playOn(): Promise<void> {
  while (passedMinutes() < minutes) {
    const engine = chosen[nth % chosen.length];
    nth += 1;
    if (engine !== undefined) await play(engine, nth);
  }
}
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, playOn));

const sumOf = (files: readonly Engine[]): Totals => addUp(files.flatMap(({ file }) => byFile.get(file) ?? []));
const tell = (name: string, { seeds, campaigns, calls }: Totals): string =>
  `${name.padEnd(10)} ${String(seeds).padStart(7)} ${String(campaigns).padStart(10)} ${String(calls).padStart(8)}`;
const all = sumOf(chosen);
const lines = promises.map((name) => tell(name, sumOf(chosen.filter((engine) => engine.promises.includes(name)))));
process.stdout.write(`\npromise      seeds  campaigns    calls\n${[...lines, tell('all', all)].join('\n')}\n\n${broken} broken\n`);
if (flags.write) await recordSoak([Math.round(passedMinutes()), drawn, all.seeds, all.campaigns, all.calls, broken]);
process.exit(broken === 0 ? 0 : 1);
