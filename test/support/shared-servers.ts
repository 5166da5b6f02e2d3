import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { readConfig } from '../../src/shared/config.ts';
import { startDevServer, type DevServer } from '../../src/temporal/dev-server.ts';
import { resolveTemporalBinary } from '../../src/temporal/server-binary.ts';
import { mustHaveServer, resolveServerPrograms } from '../shape/server-programs.ts';
import { startPostgresServer, type PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Serves `/temporal` and `/postgres` with the shared server's address. */
    sharedServers: string;
  }
}

/** The first file that asks starts a server for all. Temporal's one-off build takes minutes and comes before the tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const onProgress = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  await resolveTemporalBinary({ config: readConfig(), onProgress });
  // When the build fails, the test that needs it reports it.
  if (mustHaveServer) await resolveServerPrograms(onProgress).catch(() => {});

  let temporal: Promise<DevServer> | undefined;
  let postgres: Promise<PostgresServer> | undefined;
  const door = await listen(async (path) => {
    // A failed one is restarted for the next request.
    if (path === '/temporal') {
      temporal ??= startDevServer({ config: readConfig(), ui: false });
      temporal.catch(() => (temporal = undefined));
      return (await temporal).address;
    }
    postgres ??= startPostgresServer();
    postgres.catch(() => (postgres = undefined));
    return (await postgres).url;
  });
  project.provide('sharedServers', `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.closeAllConnections();
    door.close();
    await (await temporal)?.stop();
    await (await postgres)?.stop();
  };
}

async function listen(answer: (path: string | undefined) => Promise<string>): Promise<Server> {
  const server = createServer((request, response) => {
    // A kept-alive one would close under the next request.
    response.setHeader('connection', 'close');
    void answer(request.url).then(
      (text) => response.end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
