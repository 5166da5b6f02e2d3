import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { NativeConnection } from '@temporalio/worker';
import type { ListenAddress } from '../shared/config.ts';
import { StandbyError, standbyText } from '../ledger/postgres/writer-pool.ts';
import { withinLimit } from './connection.ts';
import type { Store } from '../ledger/tx.ts';

interface Watched {
  connection: Pick<NativeConnection, 'withDeadline' | 'workflowService'>;
  store: Pick<Store, 'db'>;
  isRunning: () => boolean;
}

export interface HealthServer {
  /** The server reports `starting` until this call. */
  watch(watched: Watched): void;
  close(): Promise<void>;
}

/** Without addresses, since the endpoint is public. */
type Readiness = Record<'temporal' | 'database' | 'worker', string>;

const good: readonly string[] = ['reachable', 'running'];
const limitMs = 2_000;
const starting: Readiness = { temporal: 'starting', database: 'starting', worker: 'starting' };

/** Answers `/healthz`, and `/readyz` with 200 only while Temporal, database and worker work. Throws when the port is taken. */
export async function startHealthServer({ host, port }: ListenAddress): Promise<HealthServer> {
  let watched: Watched | null = null;
  let pendingCheck: Promise<Readiness> | null = null;
  /** Shares one check among concurrent requests. */
  const checkReadiness = (): Promise<Readiness> => {
    if (watched === null) return Promise.resolve(starting);
    pendingCheck ??= readReadiness(watched).finally(() => {
      pendingCheck = null;
    });
    return pendingCheck;
  };
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    if (path !== '/healthz' && path !== '/readyz') return answer(response, 404, { error: 'There are /healthz and /readyz.' });
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return answer(response, 405, { error: 'Ask with GET or HEAD.' });
    }
    if (path === '/healthz') return answer(response, 200, { healthy: true });
    void checkReadiness().then((parts) => {
      const ready = Object.values(parts).every((word) => good.includes(word));
      answer(response, ready ? 200 : 503, { ready, ...parts });
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    watch: (parts) => {
      watched = parts;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' });
  response.end(`${JSON.stringify(body)}\n`);
}

async function readReadiness({ connection, store, isRunning }: Watched): Promise<Readiness> {
  const [temporal, database] = await Promise.all([
    answers(() => connection.withDeadline(Date.now() + limitMs, () => connection.workflowService.getSystemInfo({}))),
    answers(() => store.db.selectFrom('meta').select('key').limit(1).execute()),
  ]);
  return { temporal, database, worker: isRunning() ? 'running' : 'not running' };
}

async function answers(ask: () => Promise<unknown>): Promise<string> {
  return withinLimit(ask(), limitMs).then(
    () => 'reachable',
    (error: unknown) => (error instanceof StandbyError ? standbyText : 'not reachable'),
  );
}
