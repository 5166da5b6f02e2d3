/** Runs seeds of worlds, one after another, until one breaks a promise. Says on stdout which one it is at, and what broke. */
import { parseArgs } from 'node:util';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { drawWorld } from '../world/inputs/draw-world.ts';
import { runWorlds } from '../world/run-worlds.ts';

const { values } = parseArgs({
  options: {
    api: { type: 'string', default: 'contract' },
    worlds: { type: 'string', default: '' },
    seeds: { type: 'string', default: '200' },
  },
});
const names = values.worlds.split(',');

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
  const world = names[(seed - 1) % names.length] ?? '';
  say({ world, seed });
  const what: string[] = [];
  try {
    const { figures } = await runWorlds([drawWorld(seed, world, { api: values.api as ServiceApi })]);
    for (const { breaches } of figures.values()) what.push(...Object.keys(breaches));
  } catch (error) {
    what.push(error instanceof Error ? `the run fails: ${error.message.split('\n')[0]}` : 'the run fails');
  }
  if (what.length > 0) {
    say({ world, seed, broken: what.join(', ') });
    process.exit(0);
  }
}
say({ clean: Number(values.seeds) });
process.exit(0);
