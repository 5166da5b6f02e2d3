/** Runs the design until a case breaks a promise, and says on stdout which. */
import { parseArgs } from 'node:util';
import { startPostgresServer } from '../support/postgres-server.ts';
import { describeCase, designOf } from './design.ts';
import { Place } from './places.ts';
import { emptyWeaves, runCase } from './run-weaves.ts';
import { scenarios } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    kind: { type: 'string', default: '' },
    act: { type: 'string', default: '' },
    limit: { type: 'string', default: '3000' },
  },
});
const server = values.database === 'postgres' ? await startPostgresServer() : undefined;
const place = await Place.open(await server?.createDatabase('chaos'));
const weaves = emptyWeaves();
let caught: object = {};
search: for (const scenario of scenarios)
  for (const each of await designOf(place, scenario)) {
    if (values.kind !== '' && each.kind !== values.kind) continue;
    if (values.act !== '' && each.intervention.beside?.act !== values.act) continue;
    if (weaves.cases >= Number(values.limit)) break search;
    await runCase(place, each, weaves);
    const [story] = weaves.broken;
    if (story === undefined) continue;
    caught = { caught: describeCase(each), rule: /^ {2}(.*?)(?: \+\d+)?:/m.exec(story)?.[1] ?? '' };
    break search;
  }
await server?.stop();
process.stdout.write(`${JSON.stringify({ ...caught, cases: weaves.cases })}\n`, () => process.exit(0));
