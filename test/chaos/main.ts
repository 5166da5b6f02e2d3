/** Disturbs campaigns in every way and judges them by the service's own call log: npm run chaos -- --help */
import { parseArgs } from 'node:util';
import { startPostgresServer } from '../support/postgres-server.ts';
import { drawMix, drawTangledMix } from '../activities/mixes/draw-mix.ts';
import { Coverage, runMixes } from '../activities/mixes/run-mixes.ts';
import { designOf } from './design.ts';
import { Place } from './places.ts';
import { emptyWeaves, formatWeaves, runCase, runSeed, type Weaves } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';
import { writeSection } from './proof-section.ts';

const help = `Disturbs campaigns and judges them by the service's own call log.

  npm run chaos -- --level ledger                      every interleaving by design, on SQLite and PostgreSQL
  npm run chaos -- --level ledger --every 20           one in twenty of them
  npm run chaos -- --level ledger --seeds 1000         small campaigns disturbed up to four times each, seeds 1 to 1000
  npm run chaos -- --level ledger --seeds 1 --seed 42  seed 42 alone
  npm run chaos -- --level activities --seeds 100      mixes of faults of the service, of clocks and of processes

  --level ledger|activities   what is disturbed (default ledger)
  --seeds N                   how many seeds; without it, level ledger runs the design
  --seed K                    the first seed (default 1)
  --every N                   of the design, one case in so many (default 1)
  --scenario NAME             of the design, one scenario (${scenarios.map(({ name }) => `"${name}"`).join(', ')})
  --database sqlite|postgres  one of them (default both)
  --write                     writes counts and coverage into docs/proof.md

Exits with 1 when a promise was broken, and with 2 on wrong usage.
`;

function refuse(problem: string): never {
  process.stderr.write(`${problem} See npm run chaos -- --help.\n`);
  process.exit(2);
}

function read() {
  try {
    return parseArgs({
      options: {
        level: { type: 'string', default: 'ledger' },
        seeds: { type: 'string' },
        seed: { type: 'string', default: '1' },
        every: { type: 'string', default: '1' },
        scenario: { type: 'string' },
        database: { type: 'string' },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function wholeNumber(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) refuse(`--${flag} takes a whole number from 1, not "${text}".`);
  return Number(text);
}

/** What a killed process left waiting would keep this one. */
function end(text: string, broken: number): void {
  process.stdout.write(`${text}\n`, () => process.exit(broken > 0 ? 1 : 0));
}

const shownStories = 5;
const values = read();
const [seed, every] = [wholeNumber('seed', values.seed), wholeNumber('every', values.every)];
const seeds = values.seeds === undefined ? null : wholeNumber('seeds', values.seeds);

async function runLedger(): Promise<void> {
  const chosen = scenarios.filter(({ name }) => values.scenario === undefined || name === values.scenario);
  if (chosen.length === 0) refuse(`There is no scenario "${values.scenario}".`);
  const databases = values.database === undefined ? ['sqlite', 'postgres'] : [values.database];
  const weaves = emptyWeaves();
  const kinds = new Map<string, number>();
  for (const database of databases) {
    const server = database === 'postgres' ? await startPostgresServer() : undefined;
    const place = await Place.open(await server?.createDatabase('chaos'));
    if (seeds !== null)
      for (let each = seed; each < seed + seeds; each += 1) {
        await runSeed(place, each, weaves);
        tellProgress(weaves);
      }
    else
      for (const scenario of chosen) {
        const cases = await designOf(place, scenario);
        for (const [index, each] of cases.entries()) {
          if (index % every !== 0) continue;
          kinds.set(each.kind, (kinds.get(each.kind) ?? 0) + 1);
          await runCase(place, each, weaves);
          tellProgress(weaves);
        }
        process.stderr.write(
          `${database}, ${scenario.name}: ${Math.ceil(cases.length / every)} of ${cases.length} cases\n`,
        );
      }
    await place.close();
    await server?.stop();
  }
  const design = [...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ');
  const figures = `${formatWeaves(weaves)}${design === '' ? '' : `\nBy kind: ${design}`}`;
  if (values.write)
    writeSection({ figures, command: `npm run chaos -- ${process.argv.slice(2).join(' ')}`, matrix: weaves.matrix });
  end([figures, weaves.matrix.format(), ...weaves.broken.slice(0, shownStories)].join('\n\n'), weaves.broken.length);
}

function tellProgress({ cases, broken }: Weaves): void {
  if (cases % 500 === 0) process.stderr.write(`${cases} cases, ${broken.length} broken\n`);
}

async function runActivities(): Promise<void> {
  const coverage = new Coverage();
  const broken: string[] = [];
  const count = seeds ?? 100;
  for (let each = seed; each < seed + count; each += 1)
    broken.push(...(await runMixes([each % 5 === 0 ? drawTangledMix(each) : drawMix(each)], coverage)));
  const seen = [...coverage.seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([word, times]) => `${word} ${times}`);
  end(
    [`${count} seeds from ${seed}, ${broken.length} broken`, seen.join(', '), ...broken.slice(0, shownStories)].join(
      '\n\n',
    ),
    broken.length,
  );
}

if (values.help) end(help, 0);
else if (values.database !== undefined && !['sqlite', 'postgres'].includes(values.database))
  refuse(`--database is sqlite or postgres, not "${values.database}".`);
else if (values.level === 'ledger') await runLedger();
else if (values.level === 'activities') await runActivities();
else refuse(`--level is ledger or activities, not "${values.level}".`);
