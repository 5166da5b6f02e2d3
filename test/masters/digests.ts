import { createHash } from 'node:crypto';
import { drawChainedMix, drawMix, drawTangledMix } from '../activities/mixes/draw-mix.ts';
import { Drive, type Mix } from '../activities/mixes/drive-campaign.ts';
import { range } from '../activities/mixes/run-mixes.ts';
import { drawWorld } from '../worlds/draw-world.ts';

const played: readonly (readonly [name: string, seeds: readonly number[], draw: (seed: number) => Mix])[] = [
  ['mixes', range(1, 15), drawMix],
  ['chained', range(1, 6), drawChainedMix],
  ['tangled', range(11, 15), drawTangledMix],
  ['worlds', range(1, 25), (seed) => drawWorld(seed).mix],
  ['worlds of batch-calling', range(1, 18), (seed) => drawWorld(seed, undefined, { api: 'batch-calling' }).mix],
  ['worlds of campaigns', range(19, 35), (seed) => drawWorld(seed, undefined, { api: 'campaigns' }).mix],
];

/** What the seeds that `npm test` plays come to, one line each: a digest of the service's calls, and of the rows as they ended. */
export async function* digestSeeds(): AsyncGenerator<string> {
  for (const [name, seeds, draw] of played)
    for (const seed of seeds) {
      const { trial } = await new Drive(draw(seed)).run();
      const calls = trial.calls.map(({ to, acceptedAt, dialedAt, result }) => [to, acceptedAt, dialedAt, result]);
      const rows = trial.ledger.recipients.map(({ recipient_id: id, outcome }) => [id, outcome]);
      yield `${name} ${seed}: ${calls.length} calls ${digest(calls)}, ${rows.length} rows ${digest(rows)}`;
    }
}

function digest(values: readonly unknown[]): string {
  const sorted = values.map((value) => JSON.stringify(value)).toSorted();
  return createHash('sha256').update(sorted.join()).digest('hex').slice(0, 10);
}
