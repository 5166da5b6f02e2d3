import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { ActivitiesLevel } from './activities-level.ts';
import type { DatabaseKind, LedgerLevel } from './ledger-level.ts';
import { serviceApis } from '../../src/rules/service-api.ts';
import { reportedScenarios, scenarios, scenariosOf } from './scenarios.ts';
import type { SystemLevel } from './system-level.ts';

export const help = `Disturbs campaigns and judges them by the service's own call log.

Usage:
  npm run chaos -- [--level ledger] [--every N | --per-cell N] [--scenario NAME]
                                                                    every interleaving by design, or a part of them
  npm run chaos -- [--level ledger] --seeds N [--seed K]            small campaigns, disturbed up to four times each;
                                                                    with --every or --per-cell, after a part of the design
  npm run chaos -- --level activities [--seeds N] [--seed K]        larger campaigns under drawn faults and worlds
  npm run chaos -- --level system [--seeds N] [--seed K]            the production shape, while its processes and ways fail;
                                                                    from the build: npm run build first

Options:
  --level ledger|activities|system
                              what is disturbed: single effects of small campaigns, whole campaigns, or the processes of
                              two Temporal servers, three workers, database and service (default: ledger)
  --api contract|batch-calling|campaigns
                              by which API the service is asked for calls (default: contract; level system: the contract's alone)
  --seeds N                   how many seeds (level ledger: without it, the design alone; activities: 100; system: 10)
  --seed K                    the first seed (default: 1)
  --every N                   of the design, one case in N (default: 1, all of them)
  --per-cell N                of the design, N cases for each change of state and each kind of disturbance
  --scenario NAME             of the design, one scenario:
${scenarios.map(({ name }) => `                                "${name}"`).join('\n')}
                              with the other APIs also ${reportedScenarios.map(({ name }) => `"${name}"`).join(', ')}
  --database sqlite|postgres  one of them (default: both; level activities: sqlite; system: always postgres)
  --processes N               in how many processes (default: one for each core; level system: one)
  --help                      prints this

Examples:
  npm run chaos -- --per-cell 1                               each change of state disturbed in each way, in minutes
  npm run chaos -- --every 100                                one case in a hundred, wherever they fall
  npm run chaos -- --scenario "answer lost" --database sqlite
  npm run chaos -- --seeds 1000
  npm run chaos -- --every 20 --seeds 1000                    both
  npm run chaos -- --seeds 1 --seed 42                        seed 42 again, shrunk and told if it breaks a promise
  npm run chaos -- --level activities --seeds 300
  npm run chaos -- --level activities --api campaigns --database postgres --seeds 40
  npm run chaos -- --level system --seeds 1 --seed 7          about three minutes

What breaks a promise is told on stderr at once; a seed is shrunk before that, in at most 60 campaigns and two minutes. Ctrl-C ends a run with
the figures so far; a second one ends it at once.
Exits with 0 if no promise was broken, with 1 if one was, and with 2 on wrong usage.
`;

/** Thrown when the flags do not say what to run. */
export class WrongUsageError extends Error {
  override readonly name = 'WrongUsageError' as const;
}

export type ChaosFlags =
  | { kind: 'help' }
  | { kind: 'ledger'; options: LedgerLevel }
  | { kind: 'activities'; options: ActivitiesLevel }
  | { kind: 'system'; options: SystemLevel };

/** Of each list of level system: some are still to be called when the last process is killed. */
const systemRows = 500;

/** What the command is to do. Throws `WrongUsageError`. */
export function parseFlags(args: readonly string[]): ChaosFlags {
  const flags = splitFlags(args);
  if (flags.help) return { kind: 'help' };
  const { level, scenario, database } = flags;
  if (level !== 'ledger' && level !== 'activities' && level !== 'system')
    throw new WrongUsageError(`--level is ledger, activities or system, not "${level}".`);
  if (database !== undefined && database !== 'sqlite' && database !== 'postgres')
    throw new WrongUsageError(`--database is sqlite or postgres, not "${database}".`);
  const api = serviceApis.find((each) => each === flags.api);
  if (api === undefined) throw new WrongUsageError(`--api is contract, batch-calling or campaigns, not "${flags.api}".`);
  const seeds = { from: wholeNumber('seed', flags.seed) ?? 1, count: wholeNumber('seeds', flags.seeds) ?? 100 };
  const every = wholeNumber('every', flags.every) ?? 1;
  const perCell = wholeNumber('per-cell', flags['per-cell']);
  if (perCell !== undefined && flags.every !== undefined)
    throw new WrongUsageError('--every and --per-cell both say which cases are run: give one of them.');
  const processes = wholeNumber('processes', flags.processes) ?? availableParallelism();
  const asksForDesign = perCell !== undefined || flags.every !== undefined || scenario !== undefined;
  if (level !== 'ledger' && asksForDesign)
    throw new WrongUsageError('--every, --per-cell and --scenario are for the design, which level ledger runs.');
  if (level === 'system') {
    if (flags.processes !== undefined) throw new WrongUsageError('--level system has processes of its own: leave --processes out.');
    if (api !== 'contract') throw new WrongUsageError('--level system runs with the contract alone: leave --api out.');
    if (database === 'sqlite') throw new WrongUsageError('--level system runs on PostgreSQL: leave --database out.');
    const tenAtFirst = flags.seeds === undefined ? { ...seeds, count: 10 } : seeds;
    return { kind: level, options: { seeds: tenAtFirst, rows: systemRows } };
  }
  if (level === 'activities') {
    return { kind: level, options: { api, database: database ?? 'sqlite', seeds } };
  }
  const drawn = flags.seeds === undefined ? null : seeds;
  if (drawn === null && flags.seed !== undefined) throw new WrongUsageError('--seed goes with --seeds.');
  const chosen = scenariosOf(api).filter(({ name }) => scenario === undefined || name === scenario);
  if (chosen.length === 0) throw new WrongUsageError(`There is no scenario "${scenario}".`);
  const databases: readonly DatabaseKind[] = database === undefined ? ['sqlite', 'postgres'] : [database];
  const design = drawn === null || asksForDesign ? { scenarios: chosen, choice: perCell === undefined ? { every } : { perCell } } : null;
  return { kind: level, options: { api, databases, design, seeds: drawn, processes } };
}

function splitFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        level: { type: 'string', default: 'ledger' },
        api: { type: 'string', default: 'contract' },
        seeds: { type: 'string' },
        seed: { type: 'string' },
        every: { type: 'string' },
        'per-cell': { type: 'string' },
        processes: { type: 'string' },
        scenario: { type: 'string' },
        database: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new WrongUsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^[1-9]\d{0,8}$/.test(text))
    throw new WrongUsageError(`--${flag} takes a whole number from 1, not "${text}".`);
  return text === undefined ? undefined : Number(text);
}
