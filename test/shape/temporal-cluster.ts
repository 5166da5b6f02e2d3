import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { spawnServer, type ServerProcess } from '../../src/temporal/server-process.ts';
import { until } from '../support/until.ts';
import { setUpSchema, type ServerPrograms } from './server-programs.ts';

interface ClusterInput {
  programs: ServerPrograms;
  /** A PostgreSQL server that may create databases. */
  postgresUrl: string;
  folder: string;
  nodes: number;
}

const services = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];
const namespace = 'carillon';
/** As docker-compose.yml has it: at the defaults each step of a workflow waits for a tick of 50 ms. */
const dynamicConfig = `history.transferProcessorMaxPollRPS: [{ value: 200 }]
history.timerProcessorMaxPollRPS: [{ value: 200 }]
`;

/** Temporal as in production: several server processes on one PostgreSQL. All are stopped when one fails to start. */
export async function startTemporalCluster(input: ClusterInput) {
  const { hostname, port, username, password } = new URL(input.postgresUrl);
  const sql = {
    SQL_PLUGIN: 'postgres12',
    SQL_HOST: hostname,
    SQL_PORT: port,
    SQL_USER: username,
    SQL_PASSWORD: password,
  };
  await setUpSchema(input.programs, sql, { database: 'temporal', kind: 'temporal' });
  await setUpSchema(input.programs, sql, { database: 'temporal_visibility', kind: 'visibility' });
  const configPath = join(input.folder, 'dynamic.yaml');
  await writeFile(configPath, dynamicConfig);
  const settings = {
    DB: 'postgres12',
    POSTGRES_SEEDS: hostname,
    DB_PORT: port,
    POSTGRES_USER: username,
    POSTGRES_PWD: password,
    DBNAME: 'temporal',
    VISIBILITY_DBNAME: 'temporal_visibility',
    NUM_HISTORY_SHARDS: '16',
    BIND_ON_IP: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: configPath,
    LOG_LEVEL: 'error',
  };
  const nodes: Awaited<ReturnType<typeof makeNode>>[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
  };
  try {
    for (let nth = 0; nth < input.nodes; nth += 1) {
      const node = await makeNode(input.programs.temporalServer, settings);
      nodes.push(node);
      await node.start();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, namespace, stop };
}

async function makeNode(program: string, settings: Record<string, string>) {
  const ports = await pickLowPorts(2 * services.length + 1);
  const [http = 0, ...others] = ports;
  const own = Object.fromEntries(
    services.flatMap((name, index) => [
      [`${name}_GRPC_PORT`, String(others[2 * index])],
      [`${name}_MEMBERSHIP_PORT`, String(others[2 * index + 1])],
    ]),
  );
  const [port = 0] = others;
  let server: ServerProcess | undefined;
  return {
    port,
    /** Also restarts, on its ports; waits until it serves. */
    start: async (): Promise<void> => {
      const env = { ...settings, ...own, FRONTEND_HTTP_PORT: String(http) };
      server = await spawnServer(program, ['--allow-no-auth', 'start'], () => {}, env);
      await untilServing(server, port);
    },
    kill: async (): Promise<void> => {
      server?.kill();
      await server?.ended;
    },
  };
}

/** Free ports below 32768: servers of a cluster find each other in a table whose port column is a `smallint`. */
async function pickLowPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(20_000, 32_768);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    ports.add(port);
    server.close();
    await once(server, 'close');
  }
  return [...ports];
}

/** Until it knows the namespace, which the first one creates. */
async function untilServing(server: ServerProcess, port: number): Promise<void> {
  const connection = Connection.lazy({
    address: `127.0.0.1:${port}`,
    interceptors: [],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 100 },
  });
  const { workflowService } = connection;
  const ask = (request: () => Promise<unknown>): Promise<boolean> =>
    connection.withDeadline(Date.now() + 2_000, request).then(
      () => true,
      () => false,
    );
  const retention = msToTs('3 days');
  try {
    await until(
      `Temporal serves at port ${port}`,
      async () => {
        if (server.hasEnded()) throw new Error(`Temporal ended (${await server.ended}):\n${server.lastLines().join('\n')}`);
        if (await ask(() => workflowService.describeNamespace({ namespace }))) return true;
        await ask(() => workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention }));
        return false;
      },
      { everyMs: 100 },
    );
  } finally {
    await connection.close();
  }
}
