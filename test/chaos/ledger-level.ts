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

/** Who looks on while it runs. */
export interface Watch {
  progress: Progress;
  /** Ends it after the campaign that is running, with what there is. */
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

/** Disturbs small campaigns at their effects, by design and by seed, on one database after the other. */
export async function runLedgerLevel(level: LedgerLevel, watch: Watch): Promise<LedgerResult[]> {
  const results: LedgerResult[] = [];
  for (const database of level.databases) {
    if (watch.stop.aborted) break;
    const matrix = new Matrix();
    const figures: string[] = [];
    const broken: string[] = [];
    const server = database === 'postgres' ? await startPostgresServer() : undefined;
    const place = await Place.open(await server?.createDatabase('chaos'));
    const name = database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    const measure = async (what: string, run: (weaves: Weaves) => Promise<void>): Promise<void> => {
      const weaves = { ...emptyWeaves(), matrix };
      const begunAt = performance.now();
      await run(weaves);
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      const end = watch.stop.aborted ? ', broken off' : '';
      figures.push(`${what} on ${name}, ${seconds} s${end}: ${formatWeaves(weaves)}`);
      broken.push(...weaves.broken.map((story) => `${name}, ${story}`));
    };
    const { design, seeds } = level;
    try {
      if (design !== null) {
        const part = design.every === 1 ? 'the design' : `one case in ${design.every} of the design`;
        await measure(part, (weaves) => runDesign(place, design, { weaves, ...watch }));
      }
      if (seeds !== null && !watch.stop.aborted) {
        const range = `seeds ${seeds.from} to ${seeds.from + seeds.count - 1}`;
        await measure(range, (weaves) => runSeeds(place, seeds, { weaves, ...watch }));
      }
    } finally {
      await place.close();
      await server?.stop();
    }
    results.push({ database, figures: figures.join('\n'), matrix, broken });
  }
  return results;
}

interface Run extends Watch {
  weaves: Weaves;
}

/** Says how far a run is, and tells what was just found. */
function say(
  { weaves, progress }: Run,
  { what, known, ...at }: { what: string; known: number; done: number; of: number },
) {
  for (const story of weaves.broken.slice(known)) progress.tell(story);
  progress.update(what, { ...at, broken: weaves.broken.length });
}

async function runDesign(
  place: Place,
  { scenarios, every }: { scenarios: readonly Scenario[]; every: number },
  run: Run,
): Promise<void> {
  for await (const cases of sampleDesign(place, scenarios, every))
    for (const [index, each] of cases.entries()) {
      if (run.stop.aborted) return;
      const known = run.weaves.broken.length;
      await runCase(place, each, run.weaves);
      const what = `${place.dialect}, ${each.scenario.name}`;
      say(run, { what, known, done: index + 1, of: cases.length });
    }
}

async function runSeeds(place: Place, { from, count }: { from: number; count: number }, run: Run): Promise<void> {
  for (let done = 1; done <= count && !run.stop.aborted; done += 1) {
    const known = run.weaves.broken.length;
    await runSeed(place, from + done - 1, run.weaves, run.stop);
    say(run, { what: place.dialect, known, done, of: count });
  }
}
