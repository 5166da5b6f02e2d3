import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/index.ts';
import { readConfig } from '../../src/shared/config.ts';
import type { CampaignQueues } from '../../src/rules/ids.ts';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { startDevServer, type DevServer } from '../../src/temporal/dev-server.ts';
import { resolveTemporalBinary } from '../../src/temporal/server-binary.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import type { CampaignTimeouts } from '../../workflows/messages.ts';
import { sharedTemporal } from '../support/temporal-for-tests.ts';

/** A Temporal server for the real workflows with fake activities. */
export interface CampaignServer {
  client: Client;
  /** Works with a worker that has these activities alone, on a queue of its own. */
  workWith<Result>(activities: Partial<Activities>, work: (queues: CampaignQueues) => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

export const timeouts: CampaignTimeouts = {
  heartbeatMs: 10_000,
  submitHeartbeatMs: 10_000,
  submitMs: 60_000,
  collectMs: 60_000,
  shortMs: 60_000,
};

/** All of a file share a namespace, so that no name of a queue is used twice. */
let workers = 0;

/** `longAfter`: so many events make a history so long that its run is to continue as new; default: as many as the server's own. */
export async function startCampaignServer({ longAfter }: { longAfter?: number } = {}): Promise<CampaignServer> {
  const own = longAfter === undefined ? null : await startWithLimit(longAfter);
  const target = own ?? (await sharedTemporal());
  const config = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  const native = await connectTemporalNative(config, { target });
  const { connection, client } = await connectTemporal(config, { target });
  const workflowBundle = await bundleWorkflows();
  return {
    client,
    workWith: async (activities, work) => {
      workers += 1;
      const taskQueue = `campaigns-${workers}`;
      const worker = await Worker.create({
        connection: native.connection,
        namespace: target.namespace,
        taskQueue,
        workflowBundle,
        activities,
      });
      return worker.runUntil(work({ campaign: taskQueue, submit: taskQueue, collect: taskQueue }));
    },
    stop: async () => {
      await connection.close();
      await native.connection.close();
      await own?.stop();
    },
  };
}

/** A server that suggests to continue as new after so many events. */
async function startWithLimit(longAfter: number): Promise<DevServer> {
  const config = readConfig();
  const { path } = await resolveTemporalBinary({ config });
  const folder = await mkdtemp(join(tmpdir(), 'carillon-server-'));
  const program = join(folder, 'temporal');
  const setting = `--dynamic-config-value limit.historyCount.suggestContinueAsNew=${longAfter}`;
  await writeFile(program, `#!/bin/sh\n[ "$1" = server ] || exec "${path}" "$@"\nexec "${path}" "$@" ${setting}\n`);
  await chmod(program, 0o700);
  const server = await startDevServer({ config: { ...config, CARILLON_TEMPORAL_BIN: program }, ui: false });
  await rm(folder, { recursive: true });
  return server;
}
