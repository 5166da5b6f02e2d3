/** Runs seeds of the worlds by hand and prints figures by world: npm run worlds -- --seeds 1000 */
import { parseArgs } from 'node:util';
import { serviceApis, type ServiceApi } from '../../src/rules/service-api.ts';
import { startPostgresServer } from '../support/postgres-server.ts';
import { drawWorld, worldNamesOf, type World } from './inputs/draw-world.ts';
import { addUp, formatCutLines, formatFigures, runWorlds } from './run-worlds.ts';

const { values } = parseArgs({
  options: {
    /** How many, and from which on. */
    seeds: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    world: { type: 'string' },
    /** contract, batch-calling or campaigns. */
    api: { type: 'string', default: 'contract' },
    postgres: { type: 'boolean', default: false },
    /** The stories of at most so many seeds that broke a promise. */
    stories: { type: 'string', default: '5' },
  },
});
const api = readApi(values.api);
const server = values.postgres ? await startPostgresServer() : undefined;

function readApi(name: string): ServiceApi {
  const api = serviceApis.find((known) => known === name);
  if (api === undefined) throw new Error(`--api is "${name}"; it must be one of ${serviceApis.join(', ')}.`);
  return api;
}

async function* draw(): AsyncGenerator<World> {
  const [from, count] = [Number(values.seed), Number(values.seeds)];
  for (let seed = from; seed < from + count; seed += 1) {
    if (seed > from && (seed - from) % 100 === 0) process.stderr.write(`${seed - from} of ${count} seeds\n`);
    yield drawWorld(seed, values.world, {
      databaseUrl: await server?.createDatabase(`world_${seed}`),
      api,
    });
  }
}

const { figures, broken } = await runWorlds(draw());
await server?.stop();
const total = addUp(figures.values());
const worldNames = worldNamesOf(api);
const sorted = [...figures].sort(([a], [b]) => worldNames.indexOf(a) - worldNames.indexOf(b));
const text = [
  formatFigures(new Map([...sorted, ...(total === undefined ? [] : [['all', total] as const])])),
  ...[...figures].flatMap(([name, each]) =>
    Object.keys(each.cut).length === 0 || values.world !== name ? [] : [formatCutLines(each.cut, each.rows)],
  ),
  ...broken.slice(0, Number(values.stories)),
].join('\n\n');
// What a killed process left waiting would keep this one.
process.stdout.write(`${text}\n`, () => process.exit(broken.length > 0 ? 1 : 0));
