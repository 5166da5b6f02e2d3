import type { Client, Connection } from '@temporalio/client';
import { readConfig, type Config } from '../../src/config.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { startDevServer, type DevServer, type DevServerInput } from '../../src/temporal/dev-server.ts';

export interface TestTemporal {
  server: DevServer;
  connection: Connection;
  client: Client;
  stop(): Promise<void>;
}

/** A dev server with a client, for all tests of one file. */
export async function startTemporalForTests(
  input: Partial<DevServerInput> & { config?: Partial<Config> } = {},
): Promise<TestTemporal> {
  const server = await startDevServer({ ui: false, ...input, config: { ...readConfig(), ...input.config } });
  const { connection, client } = await connectTemporal(
    {},
    { target: { address: server.address, namespace: server.namespace }, timeoutMs: 30_000 },
  );
  return {
    server,
    connection,
    client,
    stop: async () => {
      await connection.close();
      await server.stop();
    },
  };
}
