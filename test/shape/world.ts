import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as Database } from 'pg';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { pickFreePorts } from '../../src/temporal/server-process.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { startWay, type Way } from '../world/way.ts';
import { until } from '../support/until.ts';
import { runCommand, spawnWorker, type WorkerProcess } from '../support/worker-process.ts';
import type { Ways } from './network.ts';
import { Office } from './office.ts';
import { toCsv, type Listed } from '../world/population.ts';
import type { ServerPrograms } from './server-programs.ts';
import { startTemporalCluster } from './temporal-cluster.ts';
import { makeWrongBuild } from './wrong-build.ts';

export const campaignId = 'shape';
export const budget = { attempts: 2, uncounted: 1 };
export const batchSize = 8;
/** Service ms per real ms: a call of a minute takes a second. */
const speed = 60;
/** So that dialling takes as long for any list. */
const linesPerRow = 0.08;
const apiKey = 'sk_sandbox_ok';
const workerCount = 3;

/** The production shape, each part in a process of its own. */
export type World = Awaited<ReturnType<typeof buildWorld>>;

export interface ResultLine {
  row: number;
  cells: Record<string, string>;
  outcome: string;
}

const campaignFile = (lines: number): string => `id: ${campaignId}
agent_id: agent_reminders
from_phone_number_id: pn_main
list: { file: people.csv, phone: phone, id: id, default_region: US }
first_message: 'Hello {{ name }}, this is the clinic about your appointment.'
hours: any
law: off
retry: { max_attempts: ${budget.attempts}, busy: 5m, no_answer: 5m, unreached: 5m, failed: 5m, voicemail: never, max_uncounted: ${budget.uncounted} }
pacing: { max_concurrent_calls: ${lines}, batch_size: ${batchSize} }
opt_out: [{ collected: opt_out, equals: [true, 'yes'] }]
# A process that is away for a second misses a minute of this service.
advanced: { clock_tolerance: 3h, settle: 10m, late_delivery: 10m, poll: 30s }
breaker: off
`;

interface Shape {
  seed: number;
  people: readonly Listed[];
  programs: ServerPrograms;
}

/** Builds the shape, starts the campaign, does the work and ends every process, also on failure. */
export async function withWorld<Result>(input: Shape, work: (world: World) => Promise<Result>): Promise<Result> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const world = await buildWorld(input, (close) => closers.unshift(close));
    return await work(world);
  } finally {
    // A failed close must not keep the rest running.
    for (const close of closers) await close().catch((error: Error) => process.stderr.write(`${error.message}\n`));
  }
}

async function buildWorld({ seed, people, programs }: Shape, atEnd: (close: () => Promise<unknown>) => void) {
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
  // Like a load balancer.
  const toTemporal = await startWay(...cluster.nodes.map(({ port }) => port));
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

  const startWays = async (port: number, count: number): Promise<Way[]> => {
    const started = await Promise.all(Array.from({ length: count }, () => startWay(port)));
    for (const way of started) atEnd(() => way.close());
    return started;
  };
  const ways: Ways = {
    Temporal: await startWays(toTemporal.port, workerCount),
    ledger: await startWays(Number(new URL(ledger.url).port), workerCount),
    service: await startWays(servicePort, 1),
  };
  const databaseUrl = await ledger.createDatabase('carillon');
  const settings = {
    SVC_BASE_URL: `http://127.0.0.1:${ways.service[0]?.port}`,
    SVC_API_KEY: apiKey,
    SVC_READS_PER_SECOND: '100',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: `127.0.0.1:${toTemporal.port}`,
    TEMPORAL_NAMESPACE: cluster.namespace,
  };
  const campaignPath = join(folder, 'campaign.yaml');
  await writeFile(campaignPath, campaignFile(Math.round(people.length * linesPerRow)));
  await writeFile(join(folder, 'people.csv'), toCsv(people));
  let said = '';
  const carillon = async (...args: string[]) => {
    const end = await runCommand(args, settings);
    if (args[0] !== 'suppress') said += `${end.stdout}${end.stderr}`;
    return end;
  };
  /** The same; throws the command's output when it fails. */
  const must = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await carillon(...args);
    if (code !== 0) throw new Error(`carillon ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  const target = { address: settings.TEMPORAL_ADDRESS, namespace: cluster.namespace };
  const { client, connection } = await connectTemporal({}, { target, timeoutMs: 30_000 });
  atEnd(() => connection.close());
  const workers: WorkerProcess[] = [];
  const everyWorker: WorkerProcess[] = [];
  const metricsPorts: number[] = [];
  atEnd(() => Promise.all(everyWorker.map((worker) => worker.kill())));
  let wrongBuild: Promise<string> | undefined;
  /** Starts a worker in the place of one that ends or has ended; with `wrong`, of a release that no history fits. */
  const replaceWorker = async (place: number, release?: 'wrong'): Promise<WorkerProcess> => {
    if (release === 'wrong') wrongBuild ??= makeWrongBuild(join(folder, 'wrong'));
    const [metricsPort = 0] = await pickFreePorts(1);
    const ownDatabase = Object.assign(new URL(databaseUrl), { port: String(ways.ledger[place]?.port) });
    const own = {
      ...settings,
      DATABASE_URL: ownDatabase.href,
      TEMPORAL_ADDRESS: `127.0.0.1:${ways.Temporal[place]?.port}`,
      CARILLON_METRICS_LISTEN: String(metricsPort),
      CARILLON_LOG_LEVEL: 'debug',
    };
    const worker = spawnWorker(own, ['worker'], release === 'wrong' ? await wrongBuild : undefined);
    workers[place] = worker;
    metricsPorts[place] = metricsPort;
    everyWorker.push(worker);
    return worker;
  };
  for (let place = 0; place < workerCount; place += 1) await replaceWorker(place);
  const office = await Office.open(settings);
  atEnd(() => office.close());
  await until('the workers are ready', () => workers.every((worker) => worker.output().includes('is ready')));
  for (const { phone } of people.filter(({ kind }) => kind === 'barred'))
    await must('suppress', 'add', phone, '--reason', 'asked by letter');
  await must('start', campaignPath);

  return {
    cluster,
    ways,
    temporalDatabase,
    ledger,
    workers,
    everyWorker,
    client,
    /** `carillon serve`, and its operators. */
    office,
    replaceWorker,
    /** SIGKILL to the service, then restart from its file. */
    crashService: async (): Promise<void> => {
      await service?.kill();
      await startService();
    },
    /** The service's own calls. Throws while it is down. */
    calls: async (newest?: number): Promise<CallTruth[]> => {
      const answer = await fetch(`${serviceUrl}/_sandbox/calls${newest === undefined ? '' : `?limit=${newest}`}`);
      return ((await answer.json()) as { calls: CallTruth[] }).calls;
    },
    /** The workers' Prometheus metrics. */
    metrics: async (): Promise<string> => {
      const texts = metricsPorts.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
      return (await Promise.all(texts)).join('\n');
    },
    /** All command output, except numbers that were passed in. */
    said: () => said,
    /** Must appear nowhere, like the list. */
    keys: [apiKey, new URL(databaseUrl).password, new URL(temporalDatabase.url).password, ...office.secrets],
    carillon,
    must,
    results: async (): Promise<ResultLine[]> => {
      const path = join(folder, 'results.jsonl');
      await must('results', campaignId, '--output', path);
      const lines = (await readFile(path, 'utf8')).trim().split('\n');
      return lines.map((line) => JSON.parse(line) as ResultLine);
    },
    /** Operators' changes through the API in the event log. */
    countChanges: async (): Promise<number> => {
      const db = new Database({ connectionString: databaseUrl });
      await db.connect();
      try {
        const { rows } = await db.query<{ n: number }>(
          `select count(*)::int as n from events where type = 'operator.acted' and data::text not like '%"the command line"%'`,
        );
        return rows[0]?.n ?? 0;
      } finally {
        await db.end();
      }
    },
  };
}

async function isAnswering(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
