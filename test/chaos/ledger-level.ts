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
  /** Scenarios, and of their cases one in so many. */
  design: { scenarios: readonly Scenario[]; every: number } | null;
  seeds: { from: number; count: number } | null;
}

export interface LevelResult {
  figures: string;
  /** A story for each that broke a promise. */
  broken: string[];
}

/** Disturbs small campaigns at their effects, by design and by seed, on one database after the other. */
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
    const name = database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    const measure = async (what: string, run: (weaves: Weaves) => Promise<void>): Promise<void> => {
      const weaves = { ...emptyWeaves(), matrix };
      const begunAt = performance.now();
      await run(weaves);
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      figures.push(`${what} on ${name}, ${seconds} s: ${formatWeaves(weaves)}`);
      broken.push(...weaves.broken.map((story) => `${name}, ${story}`));
    };
    const { design, seeds } = level;
    try {
      if (design !== null) {
        const part = design.every === 1 ? 'the design' : `one case in ${design.every} of the design`;
        await measure(part, (weaves) => runDesign(place, design, { weaves, progress }));
      }
      if (seeds !== null) {
        const range = `seeds ${seeds.from} to ${seeds.from + seeds.count - 1}`;
        await measure(range, (weaves) => runSeeds(place, seeds, { weaves, progress }));
      }
    } finally {
      await place.close();
      await server?.stop();
    }
  }
  return { figures: figures.join('\n'), matrix, broken };
}

interface Run {
  weaves: Weaves;
  progress: Progress;
}

async function runDesign(
  place: Place,
  { scenarios, every }: { scenarios: readonly Scenario[]; every: number },
  { weaves, progress }: Run,
): Promise<void> {
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
