/** Runs cases of the design until one breaks a promise, and says on stdout which, and of how many. */
import { parseArgs } from 'node:util';
import { startPostgresServer } from '../support/postgres-server.ts';
import { describeCase, designOf, type Case } from './design.ts';
import { Place } from './places.ts';
import { emptyWeaves, runCase } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

/** What became of the cases that were asked for. */
export interface Caught {
  cases: number;
  /** The case, and the promise that it broke; null: none did. */
  caught: { by: string; rule: string } | null;
}

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    kind: { type: 'string' },
    act: { type: 'string' },
    limit: { type: 'string', default: '1000' },
  },
});

function isWanted({ kind, intervention }: Case): boolean {
  if (values.kind !== undefined && kind !== values.kind) return false;
  return values.act === undefined || intervention.beside?.act === values.act;
}

async function search(place: Place): Promise<Caught> {
  const weaves = emptyWeaves();
  for (const scenario of scenarios)
    for (const each of (await designOf(place, scenario)).filter(isWanted)) {
      if (weaves.cases === Number(values.limit)) return { cases: weaves.cases, caught: null };
      await runCase(place, each, weaves);
      const [story] = weaves.broken;
      if (story === undefined) continue;
      // The second line of a story names the promise, and perhaps whom it befell.
      const rule = /^ {2}(.*?)(?: \+\d+)?:/m.exec(story)?.[1] ?? '';
      return { cases: weaves.cases, caught: { by: describeCase(each), rule } };
    }
  return { cases: weaves.cases, caught: null };
}

const server = values.database === 'postgres' ? await startPostgresServer() : undefined;
const caught = await search(await Place.open({ databaseUrl: await server?.createDatabase('chaos') }));
await server?.stop();
// What a killed process left waiting would keep this one.
process.stdout.write(`${JSON.stringify(caught)}\n`, () => process.exit(0));
