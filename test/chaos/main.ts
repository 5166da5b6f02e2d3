/** Disturbs campaigns in every way and judges them by the service's own call log: npm run chaos -- --help */
import { parseArgs } from 'node:util';
import { runActivitiesLevel } from './activities-level.ts';
import { runLedgerLevel, type DatabaseKind, type LevelResult } from './ledger-level.ts';
import type { Matrix } from './matrix.ts';
import { Progress } from './progress.ts';
import { writeMatrix, writeSection } from './proof-section.ts';
import { scenarios } from './scenarios.ts';

const help = `Disturbs campaigns and judges them by the service's own call log.

Usage:
  npm run chaos -- [--level ledger] [--every N] [--scenario NAME]   every interleaving by design
  npm run chaos -- [--level ledger] --seeds N [--seed K]            small campaigns, disturbed up to four times each
  npm run chaos -- --level activities [--seeds N] [--seed K]        larger campaigns under drawn faults and worlds

Options:
  --level ledger|activities   what is disturbed: single effects of small campaigns, or whole campaigns (default: ledger)
  --seeds N                   how many seeds (level ledger: without it, the design; level activities: 100)
  --seed K                    the first seed (default: 1)
  --every N                   of the design, one case in N (default: 1, all of them)
  --scenario NAME             of the design, one scenario:
${scenarios.map(({ name }) => `                                "${name}"`).join('\n')}
  --database sqlite|postgres  one of them (default: both; level activities: sqlite)
  --write                     writes what the run came to into docs/proof.md
  --help                      prints this

Examples:
  npm run chaos -- --every 50                                 the design in a few minutes
  npm run chaos -- --scenario "answer lost" --database sqlite
  npm run chaos -- --seeds 1000
  npm run chaos -- --seeds 1 --seed 42                        seed 42 again, shrunk and told if it breaks a promise
  npm run chaos -- --level activities --seeds 300

Exits with 0 if no promise was broken, with 1 if one was, and with 2 on wrong usage.
`;

const shownStories = 5;

function refuse(problem: string): never {
  process.stderr.write(`${problem} See npm run chaos -- --help.\n`);
  process.exit(2);
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        level: { type: 'string', default: 'ledger' },
        seeds: { type: 'string' },
        seed: { type: 'string' },
        every: { type: 'string' },
        scenario: { type: 'string' },
        database: { type: 'string' },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return refuse(`${(error as Error).message.split('. ')[0]}.`);
  }
}

const flags = readFlags();

function wholeNumber(flag: 'seeds' | 'seed' | 'every'): number | undefined {
  const text = flags[flag];
  if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text))
    refuse(`--${flag} takes a whole number from 1, not "${text}".`);
  return text === undefined ? undefined : Number(text);
}

/** What a killed process left waiting would keep this one. */
function end(text: string, code: number): void {
  process.stdout.write(`${text}\n`, () => process.exit(code));
}

function forbid(flag: 'every' | 'scenario', why: string): void {
  if (flags[flag] !== undefined) refuse(`--${flag} belongs to the design${why}.`);
}

async function run(): Promise<void> {
  const { level, scenario, database } = flags;
  if (level !== 'ledger' && level !== 'activities') return refuse(`--level is ledger or activities, not "${level}".`);
  if (database !== undefined && database !== 'sqlite' && database !== 'postgres')
    return refuse(`--database is sqlite or postgres, not "${database}".`);
  const [count, from, every] = [wholeNumber('seeds'), wholeNumber('seed'), wholeNumber('every')];
  const isDesign = level === 'ledger' && count === undefined;
  for (const flag of ['every', 'scenario'] as const)
    if (!isDesign) forbid(flag, level === 'ledger' ? ', and --seeds runs seeds' : ' of level ledger');
  if (isDesign && from !== undefined) refuse('--seed goes with --seeds.');
  const chosen = scenarios.filter(({ name }) => scenario === undefined || name === scenario);
  if (chosen.length === 0) refuse(`There is no scenario "${scenario}".`);
  const seeds = { from: from ?? 1, count: count ?? 100 };
  const progress = new Progress();
  let result: LevelResult & { matrix?: Matrix };
  if (level === 'activities') result = await runActivitiesLevel({ database: database ?? 'sqlite', seeds }, progress);
  else {
    const databases: readonly DatabaseKind[] = database === undefined ? ['sqlite', 'postgres'] : [database];
    const options = { databases, seeds: isDesign ? null : seeds, scenarios: chosen, every: every ?? 1 };
    result = await runLedgerLevel(options, progress);
  }
  progress.end();
  const { figures, broken, matrix } = result;
  if (flags.write) {
    await writeSection(level === 'activities' ? 'activities' : isDesign ? 'design' : 'seeds', figures);
    if (isDesign && matrix !== undefined) await writeMatrix(matrix);
  }
  const more = broken.length > shownStories ? [`and ${broken.length - shownStories} more`] : [];
  const told = [...broken.slice(0, shownStories), ...more];
  end(
    [figures, ...(isDesign && matrix !== undefined ? [matrix.format()] : []), ...told].join('\n\n'),
    broken.length > 0 ? 1 : 0,
  );
}

if (flags.help) end(help, 0);
else await run();
