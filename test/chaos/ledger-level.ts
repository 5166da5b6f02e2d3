import { startPostgresServer } from '../support/postgres-server.ts';
import { sampleDesign } from './design.ts';
import { Matrix } from './matrix.ts';
import { Place } from './places.ts';
import type { Progress } from './progress.ts';
import { emptyWeaves, formatWeaves, runCase, runSeed, type Weaves } from './run-weaves.ts';
import type { Scenario } from './scenarios.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

export interface LedgerLevel {
  databases: readonly DatabaseKind[];
  /** Seeds to run; null: the design of these scenarios, one case in so many. */
  seeds: { from: number; count: number } | null;
  scenarios: readonly Scenario[];
  every: number;
}

export interface LevelResult {
  figures: string;
  /** A story for each that broke a promise. */
  broken: string[];
}

/** Disturbs small campaigns at their effects, by design or by seed, on one database after the other. */
export async function runLedgerLevel(
  level: LedgerLevel,
  progress: Progress,
): Promise<LevelResult & { matrix: Matrix }> {
  const matrix = new Matrix();
  const figures: string[] = [];
  const broken: string[] = [];
  for (const database of level.databases) {
    const server = database === 'postgres' ? await startPostgresServer() : undefined;
    const place = await Place.open(await server?.createDatabase('chaos'));
    const begunAt = performance.now();
    const weaves = { ...emptyWeaves(), matrix };
    try {
      if (level.seeds === null) await runDesign(place, level, { weaves, progress });
      else await runSeeds(place, level.seeds, { weaves, progress });
    } finally {
      await place.close();
      await server?.stop();
    }
    const seconds = Math.round((performance.now() - begunAt) / 1000);
    figures.push(`${database === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${seconds} s: ${formatWeaves(weaves)}`);
    broken.push(...weaves.broken.map((story) => `${database}, ${story}`));
  }
  return { figures: figures.join('\n'), matrix, broken };
}

interface Run {
  weaves: Weaves;
  progress: Progress;
}

async function runDesign(place: Place, { scenarios, every }: LedgerLevel, { weaves, progress }: Run): Promise<void> {
  for await (const cases of sampleDesign(place, scenarios, every)) {
    for (const [index, each] of cases.entries()) {
      await runCase(place, each, weaves);
      progress.update(`${place.dialect}, ${each.scenario.name}`, {
        done: index + 1,
        of: cases.length,
        broken: weaves.broken.length,
      });
    }
  }
}

async function runSeeds(
  place: Place,
  { from, count }: { from: number; count: number },
  { weaves, progress }: Run,
): Promise<void> {
  for (let done = 1; done <= count; done += 1) {
    await runSeed(place, from + done - 1, weaves);
    progress.update(place.dialect, { done, of: count, broken: weaves.broken.length });
  }
}
