import { createHash } from 'node:crypto';
import { Drive } from '../world/drive.ts';
import { asReported, drawChainedMix, drawMix, drawTangledMix } from '../world/inputs/draw-mix.ts';
import type { Mix } from '../world/mix.ts';
import { range } from '../world/run-mixes.ts';
import { drawPlan, drawScenario } from '../chaos/draw-weave.ts';
import { Place } from '../chaos/places.ts';
import { SmallCampaign } from '../chaos/small-campaign.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { drawWorld } from '../world/inputs/draw-world.ts';
import type { Write } from './write-masters.ts';

interface Played {
  calls: readonly { to: string; acceptedAt: number; dialedAt: number | null; result: string | null }[];
  rows: readonly { recipient_id: string; outcome: string | null }[];
}

type Kind = readonly [name: string, seeds: readonly number[], play: (seed: number) => Promise<Played>];

const mixes = (name: string, seeds: readonly number[], draw: (seed: number) => Mix): Kind => [
  name,
  seeds,
  async (seed) => {
    const { calls, ledger } = await new Drive(draw(seed)).run();
    return { calls, rows: ledger.recipients };
  },
];

const weaves = (seeds: readonly number[], api: ServiceApi): Kind => [
  `weaves of ${api}`,
  seeds,
  async (seed) => {
    const place = await Place.open({ api });
    try {
      const { sandbox, ledger } = await new SmallCampaign(place, drawScenario(seed, api), drawPlan(seed, api, false)).run();
      return { calls: sandbox.calls(), rows: ledger.recipients };
    } finally {
      await place.close();
    }
  },
];

const reported = (api: Exclude<ServiceApi, 'contract'>): Kind =>
  mixes(`mixes of ${api}`, range(1, 4), (seed) => asReported(drawMix(seed), api, new Random('reported', api, seed)));

const kinds: readonly Kind[] = [
  mixes('mixes', range(1, 15), drawMix),
  mixes('chained', range(1, 6), drawChainedMix),
  mixes('tangled', range(11, 15), drawTangledMix),
  reported('batch-calling'),
  reported('campaigns'),
  mixes('worlds', [...range(1, 25), ...range(301, 305)], (seed) => drawWorld(seed).mix),
  mixes('worlds of batch-calling', range(1, 18), (seed) => drawWorld(seed, undefined, { api: 'batch-calling' }).mix),
  mixes('worlds of campaigns', range(19, 35), (seed) => drawWorld(seed, undefined, { api: 'campaigns' }).mix),
  weaves(range(1, 5), 'contract'),
  weaves(range(1, 4), 'batch-calling'),
  weaves(range(1, 4), 'campaigns'),
];

/** A line per seed of `npm test`: a digest of the service's calls and the final rows. */
export async function writeDigests(write: Write): Promise<void> {
  const lines: string[] = [];
  for (const [name, seeds, play] of kinds)
    for (const seed of seeds) {
      const { calls, rows } = await play(seed);
      const called = calls.map(({ to, acceptedAt, dialedAt, result }) => [to, acceptedAt, dialedAt, result]);
      const ended = rows.map(({ recipient_id: id, outcome }) => [id, outcome]);
      lines.push(`${name} ${seed}: ${calls.length} calls ${digest(called)}, ${rows.length} rows ${digest(ended)}`);
    }
  write('digests.txt', lines.join('\n'));
}

function digest(values: readonly unknown[]): string {
  const sorted = values.map((value) => JSON.stringify(value)).toSorted();
  return createHash('sha256').update(sorted.join()).digest('hex').slice(0, 10);
}
