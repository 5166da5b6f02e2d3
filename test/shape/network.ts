import { setTimeout as pause } from 'node:timers/promises';
import type { Way } from '../world/way.ts';

export const peers = ['Temporal', 'ledger', 'service'] as const;
export type Peer = (typeof peers)[number];

/** The workers' paths to each peer, by place. All share one to the service, which they must know by one address. */
export type Ways = Readonly<Record<Peer, readonly Way[]>>;

const faults = ['slow', 'cut', 'reset', 'half-open', 'refusing', 'cut off'] as const;

/** Faults between all workers and a peer, or between one of them and a peer. */
export const networkKinds = [
  ...peers.flatMap((peer) => faults.map((fault) => `${peer} ${fault}` as const)),
  'Temporal cut off from one worker',
  'ledger cut off from one worker',
] as const;
export type NetworkKind = (typeof networkKinds)[number];

const delayMs = 250;

const faultsOfWays: Record<(typeof faults)[number], (way: Way, size: number) => unknown> = {
  slow: (way) => way.delay(delayMs),
  cut: (way, size) => way.cutAfter(size),
  reset: (way) => way.reset(),
  'half-open': (way) => way.forget(),
  refusing: (way) => way.refuse(),
  'cut off': (way) => way.partition(),
};

/** Disturbs all paths to a peer, then heals them. Where one worker is cut off, dialling must go on before `heal`. */
export async function disturbNetwork(
  ways: Ways,
  kind: NetworkKind,
  { which, forMs, size }: { which: number; forMs: number; size: number },
): Promise<{ what: string; heal: () => Promise<void> }> {
  const peer = peers.find((each) => kind.startsWith(each)) ?? 'service';
  const all = ways[peer];
  if (kind.endsWith('from one worker')) {
    const place = which % all.length;
    all[place]?.partition();
    return { what: `worker ${place + 1}`, heal: async () => all[place]?.heal() };
  }
  const fault = faults.find((each) => kind === `${peer} ${each}`) ?? 'reset';
  await Promise.all(all.map((way) => faultsOfWays[fault](way, size)));
  await pause(forMs);
  await Promise.all(all.map((way) => way.heal()));
  const words = fault === 'cut' ? `after ${size} bytes, for` : 'for';
  return { what: `${words} ${(forMs / 1000).toFixed(1)} s`, heal: async () => {} };
}
