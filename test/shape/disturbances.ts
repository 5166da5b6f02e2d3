import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { until } from '../support/until.ts';
import { disturbNetwork, networkKinds, type NetworkKind } from './network.ts';
import { rollOutAndBack, restartRolling } from './releases.ts';
import { campaignId, type World } from './world.ts';

/** What can be done to the production shape while it dials. */
export const kinds = [
  'sending worker killed',
  'collecting worker killed',
  'sending worker stands still',
  'collecting worker stands still',
  'worker replaced',
  'Temporal server killed',
  'database of Temporal restarted',
  'ledger killed',
  'service killed',
  'workers restarted in turn',
  'wrong release, rolled back',
  ...networkKinds,
] as const;
export type Kind = (typeof kinds)[number];

/** Kills of each process, in turn; every run has them all. */
const always: readonly Kind[] = [
  'sending worker killed',
  'collecting worker killed',
  'Temporal server killed',
  'ledger killed',
  'service killed',
];

export interface Disturbance {
  kind: Kind;
  /** Batches that the service takes first, after the last recovery. */
  after: number;
  /** Which process, where the kind leaves it open. */
  which: number;
  forMs: number;
  /** Bytes after which a connection is cut. */
  size: number;
}

/** A network fault's end is not announced: the parts' own limits decide when they recover. */
export function isOfNetwork(kind: Kind): kind is NetworkKind {
  return (networkKinds as readonly Kind[]).includes(kind);
}

export function drawDisturbances(seed: number, more: number): Disturbance[] {
  const random = new Random(seed, 'disturbances');
  const others = shuffle(
    random,
    kinds.filter((kind) => !always.includes(kind)),
  );
  const chosen = shuffle<Kind>(random, [...always, ...others.slice(0, more)]);
  return chosen.map((kind) => ({
    kind,
    after: 1 + Math.floor(random.next() * 3),
    which: Math.floor(random.next() * 6),
    forMs: Math.round(random.between(2_000, 10_000)),
    size: Math.round(random.between(100, 5_000)),
  }));
}

function shuffle<Value>(random: Random, values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, place: random.next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

/** What was struck, and what is left to do when dialling has gone on. */
interface Struck {
  what: string;
  /** From here on dialling has to go on by itself. */
  at: number;
  afterwards: () => Promise<void>;
}

const nothing = async (): Promise<void> => {};

export async function strike(world: World, disturbance: Disturbance): Promise<Struck> {
  const { kind, which } = disturbance;
  if (isOfNetwork(kind)) {
    const begunAt = Date.now();
    const { what, heal } = await disturbNetwork(world.ways, kind, disturbance);
    return { at: kind.endsWith('from one worker') ? begunAt : Date.now(), what, afterwards: heal };
  }
  const { workers, cluster, ledger, temporalDatabase } = world;
  let at = Date.now();
  switch (kind) {
    case 'sending worker killed':
    case 'collecting worker killed': {
      const place = await findBusy(world, kind === 'sending worker killed' ? 'submit' : 'collect');
      at = Date.now();
      await workers[place]?.kill();
      await world.replaceWorker(place);
      return { at, what: `worker ${place + 1}`, afterwards: nothing };
    }
    case 'sending worker stands still':
    case 'collecting worker stands still': {
      const activity = kind === 'sending worker stands still' ? 'submit' : 'collect';
      const place = await findBusy(world, activity);
      at = Date.now();
      // Its connections stay, so it still gets tasks: each is taken away only at its timeout.
      await workers[place]?.freeze();
      return { at, what: `worker ${place + 1}`, afterwards: async () => workers[place]?.thaw() };
    }
    case 'worker replaced': {
      const place = which % workers.length;
      const leaving = workers[place];
      await world.replaceWorker(place);
      const end = await leaving?.terminate();
      return { at, what: `worker ${place + 1}, exit code ${end?.code}`, afterwards: nothing };
    }
    case 'Temporal server killed': {
      const place = which % cluster.nodes.length;
      await cluster.nodes[place]?.kill();
      return { at, what: `server ${place + 1}`, afterwards: async () => cluster.nodes[place]?.start() };
    }
    case 'database of Temporal restarted':
      await temporalDatabase.restart();
      return { at, what: 'PostgreSQL', afterwards: nothing };
    case 'ledger killed':
      await ledger.crash();
      return { at, what: 'PostgreSQL', afterwards: nothing };
    case 'service killed':
      await world.crashService();
      return { at, what: 'the sandbox', afterwards: nothing };
    case 'workers restarted in turn':
      await restartRolling(world);
      return { at: Date.now(), what: 'with SIGTERM and with SIGKILL', afterwards: nothing };
    case 'wrong release, rolled back': {
      const failures = await rollOutAndBack(world);
      return { at: Date.now(), what: `${failures} failed steps`, afterwards: nothing };
    }
    default:
      throw new Error(kind satisfies never);
  }
}

/** Pending and started, in the numbers of Temporal's API. */
const startedState = 2;

async function pending({ client }: World, activity: 'submit' | 'collect') {
  const { raw } = await client.workflow.getHandle(campaignWorkflowId(campaignId, 1)).describe();
  return (raw.pendingActivities ?? [])
    .filter(({ activityType }) => activityType?.name === activity)
    .map(({ attempt, state, lastWorkerIdentity }) => ({
      attempt: attempt ?? 1,
      pid: Number(state) === startedState ? Number(lastWorkerIdentity?.split('@')[0]) : null,
    }));
}

async function findBusy(world: World, activity: 'submit' | 'collect'): Promise<number> {
  const { place } = await until(`a worker does ${activity}`, async () => {
    const busy = await pending(world, activity);
    const place = world.workers.findIndex((worker) => busy.some(({ pid }) => pid === worker.pid) && !worker.hasEnded());
    return place !== -1 && { place };
  });
  return place;
}
