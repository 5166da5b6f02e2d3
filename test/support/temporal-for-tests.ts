import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect } from 'vitest';
import { readConfig } from '../../src/shared/config.ts';
import { connectTemporal, type TemporalTarget } from '../../src/temporal/connection.ts';
import { startDevServer, type DevServer, type DevServerInput } from '../../src/temporal/dev-server.ts';
import { resolveTemporalBinary } from '../../src/temporal/server-binary.ts';
import { sharedServer } from './shared-server.ts';

export interface TestTemporal<Server extends TemporalTarget = TemporalTarget> {
  server: Server;
  connection: Connection;
  client: Client;
  stop(): Promise<void>;
}

/** By file: files that run in one process share this module. */
const namespaces = new Map<string | undefined, Promise<TemporalTarget>>();

/** Shared by all files, with a namespace for this one alone. */
export async function sharedTemporal(): Promise<TemporalTarget> {
  const { testPath } = expect.getState();
  const target = namespaces.get(testPath) ?? registerNamespace();
  namespaces.set(testPath, target);
  return target;
}

async function registerNamespace(): Promise<TemporalTarget> {
  const address = await sharedServer('temporal');
  const namespace = `test-${randomUUID()}`;
  const { connection } = await connect({ address, namespace: 'default' });
  const { workflowService } = connection;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
  await connection.close();
  return { address, namespace };
}

function connect(target: TemporalTarget): Promise<{ connection: Connection; client: Client }> {
  return connectTemporal({}, { target: { address: target.address, namespace: target.namespace }, timeoutMs: 30_000 });
}

export async function connectSharedTemporal(): Promise<TestTemporal> {
  const server = await sharedTemporal();
  const { connection, client } = await connect(server);
  return { server, connection, client, stop: () => connection.close() };
}

/** For all tests of a file, once at its top. */
export function useSharedTemporal(): TestTemporal {
  const shared = {} as TestTemporal;
  beforeAll(async () => {
    Object.assign(shared, await connectSharedTemporal());
  });
  afterAll(() => shared.stop());
  return shared;
}

/** For tests that kill or change it. `longAfter`: events after which it suggests to continue as new. */
export async function startTemporalForTests(
  input: Partial<DevServerInput> & { longAfter?: number } = {},
): Promise<TestTemporal<DevServer>> {
  const { longAfter, ...given } = input;
  const config = readConfig();
  const folder = await mkdtemp(join(tmpdir(), 'carillon-server-'));
  const program = join(folder, 'temporal');
  if (longAfter !== undefined) {
    const { path } = await resolveTemporalBinary({ config });
    const setting = `--dynamic-config-value limit.historyCount.suggestContinueAsNew=${longAfter}`;
    await writeFile(program, `#!/bin/sh\n[ "$1" = server ] || exec "${path}" "$@"\nexec "${path}" "$@" ${setting}\n`, { mode: 0o700 });
    config.CARILLON_TEMPORAL_BIN = program;
  }
  const server = await startDevServer({ ui: false, config, ...given });
  const { connection, client } = await connect(server);
  return {
    server,
    connection,
    client,
    stop: async () => {
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}
