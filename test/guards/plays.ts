/**
 * Plays seeds or interleavings until one breaks a promise; a line on stdout names each play and the violation. `proof.ts` starts it in a
 * copy of the code.
 */
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { isAimedAt, type Aim } from '../chaos/aim.ts';
import { describeCase, designOf } from '../chaos/design.ts';
import { Place } from '../chaos/places.ts';
import { runCase } from '../chaos/run-weaves.ts';
import { scenarios } from '../chaos/scenarios.ts';
import { drawWorld } from '../world/inputs/draw-world.ts';
import { runWorld } from '../world/run-worlds.ts';

/** What to play, and its limit. */
export type Asked = { most: number } & (
  | { worlds: readonly string[]; api: ServiceApi }
  /** `databaseUrl`: an empty PostgreSQL database, if the aim needs one. */
  | { aim: Aim; databaseUrl?: string }
);

/** The play that begins, from 1, and the promise that it broke; or that all kept them. */
export type Line = { nth: number; at: string; broken?: string } | { clean: number };

type Play = readonly [at: string, play: () => Promise<string | undefined>];

async function* playsOf(asked: Asked): AsyncGenerator<Play> {
  if ('worlds' in asked) {
    const { worlds, api } = asked;
    for (let seed = 1; ; seed += 1) {
      const name = worlds[(seed - 1) % worlds.length] ?? '';
      const play = async (): Promise<string | undefined> => {
        const { broken } = await runWorld(drawWorld(seed, name, { api }));
        return broken.length === 0 ? undefined : broken.join(', ');
      };
      yield [`${name} ${seed}`, play];
    }
  }
  const { aim, databaseUrl } = asked;
  const place = await Place.open({ databaseUrl });
  for (const scenario of scenarios.filter(({ name }) => aim.scenarios.includes(name)))
    for (const each of (await designOf(place, scenario)).filter((one) => isAimedAt(aim, one))) {
      const play = async (): Promise<string | undefined> => {
        // The second line of a story names the promise, and perhaps a number.
        return /^ {2}(.*?)(?: \+\d+)?:/m.exec((await runCase(place, each)).story)?.[1];
      };
      yield [describeCase(each), play];
    }
}

function say(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const asked = JSON.parse(process.argv[2] ?? '') as Asked;
let nth = 0;
for await (const [at, play] of playsOf(asked)) {
  if (nth === asked.most) break;
  nth += 1;
  say({ nth, at });
  const broken = await play().catch((error: Error) => `the run fails: ${error.message.split('\n')[0]}`);
  if (broken === undefined) continue;
  say({ nth, at, broken });
  process.exit(0);
}
// Pending work of a killed process would keep this one alive.
process.stdout.write(`${JSON.stringify({ clean: nth })}\n`, () => process.exit(0));
