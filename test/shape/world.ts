import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { CallTruth } from '../../src/sandbox/records/call-truth.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { pickFreePorts } from '../../src/temporal/server-process.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { runCommand, spawnWorker, type WorkerProcess } from '../support/worker-process.ts';
import { toCsv, type Person } from './people.ts';
import type { ServerPrograms } from './server-programs.ts';
import { startTemporalCluster, type TemporalCluster } from './temporal-cluster.ts';

export const campaignId = 'shape';
export const budget = { maxAttempts: 2, maxUncounted: 1 };
export const batchSize = 8;
/** Service milliseconds per real one: a call of a minute takes a second. */
const speed = 60;
const apiKey = 'sk_sandbox_ok';

/** The production shape, each part in a process of its own. */
export interface World {
  readonly cluster: TemporalCluster;
  /** Between everybody and the cluster, as a load balancer would be. */
  readonly toTemporal: TcpProxy;
  readonly temporalDatabase: PostgresServer;
  readonly ledger: PostgresServer;
  readonly workers: WorkerProcess[];
  readonly client: Client;
  /** Starts a worker in the place of one that has ended. */
  replaceWorker(place: number): void;
  /** SIGKILL to the service, and starts it again from its file. */
  crashService(): Promise<void>;
  /** Calls as the service itself has them. Throws while it is down. */
  calls(newest?: number): Promise<CallTruth[]>;
  carillon(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** The same; throws what the command says when it fails. */
  must(...args: string[]): Promise<string>;
  /** Rows of the results file, in its order. */
  results(): Promise<ResultLine[]>;
}

/** A line of the results as JSON. */
export interface ResultLine {
  row: number;
  cells: Record<string, string>;
  outcome: string;
}

const campaignFile = `id: ${campaignId}
agent_id: agent_reminders
from_phone_number_id: pn_main
list: { file: people.csv, phone: phone, id: id, default_region: US }
first_message: 'Hello {{ name }}, this is the clinic about your appointment.'
hours: any
law: off
retry: { max_attempts: ${budget.maxAttempts}, busy: 5m, no_answer: 5m, unreached: 5m, failed: 5m, voicemail: never, max_uncounted: ${budget.maxUncounted} }
pacing: { max_concurrent_calls: 24, batch_size: ${batchSize} }
opt_out: [{ collected: opt_out, equals: [true, 'yes'] }]
# A process that is away for a second misses a minute of this service.
advanced: { clock_tolerance: 3h, settle: 10m, late_delivery: 10m, poll: 30s }
breaker: off
`;

/** Builds the shape, starts the campaign, does the work and ends every process, whatever comes of it. */
export async function withWorld<Result>(
  input: { seed: number; people: readonly Person[]; programs: ServerPrograms },
  work: (world: World) => Promise<Result>,
): Promise<Result> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const world = await buildWorld(input, (close) => closers.unshift(close));
    return await work(world);
  } finally {
    // One that cannot be closed must not keep the rest running.
    for (const close of closers) await close().catch((error: Error) => process.stderr.write(`${error.message}\n`));
  }
}

async function buildWorld(
  { seed, people, programs }: Parameters<typeof withWorld>[0],
  atEnd: (close: () => Promise<unknown>) => void,
): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-shape-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const startDatabase = async (): Promise<PostgresServer> => {
    const server = await startPostgresServer();
    atEnd(() => server.stop());
    return server;
  };
  const [ledger, temporalDatabase] = [await startDatabase(), await startDatabase()];
  const cluster = await startTemporalCluster({ programs, postgresUrl: temporalDatabase.url, folder, nodes: 2 });
  atEnd(() => cluster.stop());
  const toTemporal = await startTcpProxy(...cluster.nodes.map(({ port }) => port));
  atEnd(() => toTemporal.close());

  const [servicePort = 0] = await pickFreePorts(1);
  const serviceUrl = `http://127.0.0.1:${servicePort}`;
  const serviceFlags = ['--port', String(servicePort), '--data', join(folder, 'service.db'), '--seed', String(seed)];
  let service: WorkerProcess | undefined;
  atEnd(async () => service?.kill());
  const startService = async (): Promise<void> => {
    const started = spawnWorker({}, ['sandbox', ...serviceFlags, '--speed', String(speed), '--concurrency', '200']);
    service = started;
    await until('the service answers', async () => {
      if (started.hasEnded()) throw new Error(`The sandbox ended: ${started.output()}`);
      return isAnswering(`${serviceUrl}/_sandbox/health`);
    });
  };
  await startService();

  const settings = {
    SVC_BASE_URL: serviceUrl,
    SVC_API_KEY: apiKey,
    SVC_READS_PER_SECOND: '100',
    DATABASE_URL: await ledger.createDatabase('carillon'),
    TEMPORAL_ADDRESS: `127.0.0.1:${toTemporal.port}`,
    TEMPORAL_NAMESPACE: cluster.namespace,
  };
  const campaignPath = join(folder, 'campaign.yaml');
  await writeFile(campaignPath, campaignFile);
  await writeFile(join(folder, 'people.csv'), toCsv(people));
  const carillon = (...args: string[]) => runCommand(args, settings);
  const must = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await carillon(...args);
    if (code !== 0) throw new Error(`carillon ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  const target = { address: settings.TEMPORAL_ADDRESS, namespace: cluster.namespace };
  const { client, connection } = await connectTemporal({}, { target, timeoutMs: 30_000 });
  atEnd(() => connection.close());
  const workers: WorkerProcess[] = [];
  atEnd(() => Promise.all(workers.map((worker) => worker.kill())));
  const startWorkers = async (): Promise<void> => {
    for (let place = 0; place < 3; place += 1) workers.push(spawnWorker(settings));
    await until('the workers are ready', () => workers.every((worker) => worker.output().includes('is ready')));
  };
  await startWorkers();
  for (const { phone } of people.filter(({ kind }) => kind === 'barred'))
    await must('suppress', 'add', phone, '--reason', 'asked by letter');
  await must('start', campaignPath);

  return {
    cluster,
    toTemporal,
    temporalDatabase,
    ledger,
    workers,
    client,
    replaceWorker: (place) => {
      workers[place] = spawnWorker(settings);
    },
    crashService: async () => {
      await service?.kill();
      await startService();
    },
    calls: async (newest) => {
      const answer = await fetch(`${serviceUrl}/_sandbox/calls${newest === undefined ? '' : `?limit=${newest}`}`);
      return ((await answer.json()) as { calls: CallTruth[] }).calls;
    },
    carillon,
    must,
    results: async () => {
      const path = join(folder, 'results.jsonl');
      await must('results', campaignId, '--output', path);
      const lines = (await readFile(path, 'utf8')).trim().split('\n');
      return lines.map((line) => JSON.parse(line) as ResultLine);
    },
  };
}

async function isAnswering(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
