/** Runs the cases that an aim names until one breaks a promise, and says on stdout which, and of how many. */
import type { Aim } from './aims.ts';
import { describeCase, designOf, type Case } from './design.ts';
import { Place } from './places.ts';
import { emptyWeaves, runCase } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

/** What is looked for, and how long. */
export interface Search {
  aim: Aim;
  /** An empty PostgreSQL database, where the aim asks for one. */
  databaseUrl?: string;
  mostCases: number;
  longestMs: number;
}

/** What became of the cases that were asked for. */
export interface Caught {
  cases: number;
  /** Whether it ended because its time was over. */
  late: boolean;
  /** The case, and the promise that it broke; null: none did. */
  caught: { by: string; rule: string } | null;
}

function isAimedAt({ kinds, acts, operations }: Aim, { kind, operation, intervention }: Case): boolean {
  const act = intervention.beside?.act;
  return (
    kinds.includes(kind) &&
    (acts === undefined || (act !== undefined && acts.includes(act))) &&
    (operations === undefined || operations.includes(operation))
  );
}

async function search(place: Place, { aim, mostCases, longestMs }: Search): Promise<Caught> {
  const weaves = emptyWeaves();
  const until = performance.now() + longestMs;
  const end = (late: boolean): Caught => ({ cases: weaves.cases, late, caught: null });
  for (const scenario of scenarios.filter(({ name }) => aim.scenarios.includes(name)))
    for (const each of (await designOf(place, scenario)).filter((one) => isAimedAt(aim, one))) {
      if (weaves.cases === mostCases) return end(false);
      if (performance.now() > until) return end(true);
      await runCase(place, each, weaves);
      const [story] = weaves.broken;
      if (story === undefined) continue;
      // The second line of a story names the promise, and perhaps whom it befell.
      const rule = /^ {2}(.*?)(?: \+\d+)?:/m.exec(story)?.[1] ?? '';
      return { ...end(false), caught: { by: describeCase(each), rule } };
    }
  return end(false);
}

const asked = JSON.parse(process.argv[2] ?? '') as Search;
const caught = await search(await Place.open({ databaseUrl: asked.databaseUrl }), asked);
// What a killed process left waiting would keep this one.
process.stdout.write(`${JSON.stringify(caught)}\n`, () => process.exit(0));
