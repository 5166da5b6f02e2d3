import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { chooseCases, describeCase, type Choice } from './design.ts';
import type { LedgerUnit } from './ledger-process.ts';
import { Matrix } from './matrix.ts';
import { Place, scratch } from './places.ts';
import type { Progress } from './progress.ts';
import { addWeaves, emptyWeaves, formatWeaves, type SentWeaves, type Weaves } from './run-weaves.ts';
import type { Scenario } from './scenarios.ts';
import { shareOut } from './share-out.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

export interface LedgerLevel {
  api: ServiceApi;
  databases: readonly DatabaseKind[];
  /** Scenarios, and which of their cases. */
  design: { scenarios: readonly Scenario[]; choice: Choice } | null;
  seeds: { from: number; count: number } | null;
  /** In how many processes. */
  processes: number;
}

/** Who looks on while it runs. */
export interface Watch {
  progress: Progress;
  /** Ends it after the campaigns that are running, with what there is. */
  stop: AbortSignal;
}

export interface LevelResult {
  figures: string;
  /** A story for each that broke a promise. */
  broken: string[];
}

export interface LedgerResult extends LevelResult {
  database: DatabaseKind;
  matrix: Matrix;
}

/** A small campaign takes a fraction of a second, and one that is shrunk some sixty times as long. */
const longestMs = 3 * 60_000;

/** Disturbs small campaigns at their effects, by design and by seed, on one database after the other. */
export async function runLedgerLevel(level: LedgerLevel, watch: Watch): Promise<LedgerResult[]> {
  const results: LedgerResult[] = [];
  for (const database of level.databases) {
    if (watch.stop.aborted) break;
    const folder = mkdtempSync(join(scratch, 'carillon-chaos-'));
    const server = database === 'postgres' ? await startPostgresServer() : undefined;
    try {
      results.push(await new DatabaseRun({ api: level.api, database, folder, server, processes: level.processes }, watch).run(level));
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return results;
}

interface Where {
  api: ServiceApi;
  database: DatabaseKind;
  folder: string;
  server: PostgresServer | undefined;
  processes: number;
}

class DatabaseRun {
  readonly #where: Where;
  readonly #watch: Watch;
  readonly #name: string;
  readonly #figures: string[] = [];
  readonly #broken: string[] = [];
  readonly #matrix: Matrix;
  #databases = 0;

  constructor(where: Where, watch: Watch) {
    this.#where = where;
    this.#matrix = new Matrix(where.api);
    this.#watch = watch;
    this.#name = where.database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  }

  async run({ design, seeds }: LedgerLevel): Promise<LedgerResult> {
    if (design !== null) {
      const { scenarios, choice } = design;
      const cases = await this.#enumerate(scenarios, choice);
      await this.#runAll(
        tellChoice(choice, cases.length),
        cases.map((each) => ({ case: each })),
      );
    }
    if (seeds !== null && !this.#watch.stop.aborted) {
      const { from, count } = seeds;
      const units = Array.from({ length: count }, (_, index) => ({ seed: from + index }));
      await this.#runAll(`seeds ${from} to ${from + count - 1}`, units);
    }
    const { database } = this.#where;
    return { database, figures: this.#figures.join('\n'), matrix: this.#matrix, broken: this.#broken };
  }

  async #newDatabase(): Promise<string | undefined> {
    return this.#where.server?.createDatabase(`chaos_${(this.#databases += 1)}`);
  }

  async #enumerate(scenarios: readonly Scenario[], choice: Choice) {
    const place = await Place.open({ folder: this.#where.folder, databaseUrl: await this.#newDatabase(), api: this.#where.api });
    try {
      return await chooseCases(place, scenarios, choice);
    } finally {
      await place.close();
    }
  }

  async #runAll(what: string, units: readonly LedgerUnit[]): Promise<void> {
    const { folder, database, api } = this.#where;
    const { progress, stop } = this.#watch;
    const begunAt = performance.now();
    const weaves: Weaves = { ...emptyWeaves(), matrix: this.#matrix };
    const tell = (story: string): void => {
      progress.tell(story);
      this.#broken.push(`${this.#name}, ${story}`);
    };
    let done = 0;
    const processes: string[][] = [];
    for (let nth = 0; nth < Math.min(this.#where.processes, units.length); nth += 1) {
      const databaseUrl = await this.#newDatabase();
      processes.push(databaseUrl === undefined ? [folder, api] : [folder, api, databaseUrl]);
    }
    await shareOut<LedgerUnit, SentWeaves>({
      program: 'ledger-process.ts',
      processes,
      units,
      stop,
      longestMs,
      onResult: (unit, result) => {
        for (const story of result.broken) tell(story);
        addWeaves(weaves, result);
        done += 1;
        const where = 'case' in unit ? `${database}, ${unit.case.scenario.name}` : database;
        progress.update(where, { done, of: units.length, broken: weaves.broken.length });
      },
      onHung: (unit) => {
        const story = `${'case' in unit ? describeCase(unit.case) : `seed ${unit.seed}`}: no end after ${longestMs / 1000} s`;
        weaves.broken.push(story);
        tell(story);
      },
    });
    const seconds = Math.round((performance.now() - begunAt) / 1000);
    const end = stop.aborted ? `, broken off after ${done} of ${units.length}` : '';
    this.#figures.push(`${what} on ${this.#name}, ${seconds} s in ${processes.length} processes${end}: ${formatWeaves(weaves)}`);
  }
}

function tellChoice(choice: Choice, cases: number): string {
  if ('perCell' in choice) return `${cases} cases of the design, ${choice.perCell} for each cell of the matrix,`;
  return choice.every === 1 ? 'the design' : `one case in ${choice.every} of the design`;
}
