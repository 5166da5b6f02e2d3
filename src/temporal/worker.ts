import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { Runtime, Worker, type NativeConnection, type WorkerDeploymentOptions, type ActivityInterceptors } from '@temporalio/worker';
import { createActivities } from '../../activities/index.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { openRequestNotes } from '../../activities/request-notes.ts';
import { SweepNews } from '../../activities/sweep-news.ts';
import { campaignQueues } from '../rules/ids.ts';
import { readProxies, readVariable, serviceSettings, type Config } from '../shared/config.ts';
import { serviceOf } from '../service/port/address.ts';
import { keepServiceClock } from './clock-keeper.ts';
import { connectService } from '../service/registry.ts';
import type { Logger } from '../shared/logger.ts';
import { countRateLimited, showFigures } from './metrics.ts';
import { beatEveryMs, httpTimeoutMs, longestPostMs } from './timeouts.ts';
import { keepWebhooksRunning } from './webhooks.ts';
import { loadWorkflowBundle, type WorkflowBundle } from './workflow-bundle.ts';
import type { Context } from '@temporalio/activity';
import type { Traces } from './traces.ts';
import type { Store } from '../ledger/tx.ts';

export interface WorkerOptions {
  config: Config;
  connection: NativeConnection;
  namespace: string;
  store: Store;
  logger: Logger;
  /** Default: the build's bundle, or one made now. */
  bundle?: WorkflowBundle;
  /** Temporal gives work only while this version is current. Default: all work. */
  version?: WorkerDeploymentVersion | undefined;
  /** Default: nowhere. */
  traces?: Traces | null;
}

export interface RunningWorker {
  /** Rejects when the worker failed. */
  finished: Promise<void>;
  /** False before the start and once asked to stop. */
  isRunning(): boolean;
  /** Takes no new work, lets POSTs under way end, then resolves. */
  stop(): Promise<void>;
}

/**
 * Each collect holds its slot for minutes, mostly in a timer, and a campaign without a slot would wait as long: so there are more slots
 * than campaigns per process.
 */
const collectSlots = 1_000;

/**
 * Per process and queue. Temporal serves the longest-waiting poller, even in a frozen process, and notices only by missing heartbeats: with
 * fewer polls others take over sooner.
 */
const polls = { maxConcurrentActivityTaskPolls: 1, maxConcurrentWorkflowTaskPolls: 5 };

function createDependencies({ config, store, logger }: WorkerOptions, stopping: AbortSignal): ActivityDependencies {
  const service = connectService({
    ...serviceSettings(config),
    apiKey: config.SVC_API_KEY ?? '',
    // Temporal's retries survive a restart.
    retriesAfter429: { reads: 0 },
    ...(config.CARILLON_METRICS_LISTEN === undefined ? {} : { onRequest: countRateLimited(Runtime.instance().metricMeter) }),
  });
  return {
    store,
    service,
    ...serviceOf(config),
    serviceClock: keepServiceClock(config),
    logger,
    hookSecret: config.CARILLON_HOOK_SECRET,
    hookNetworks: config.CARILLON_HOOK_NETWORKS,
    proxies: readProxies(config),
    readVariable,
    nowReal: Date.now,
    monotonicMs: () => performance.now(),
    workerId: `${process.pid}-${randomUUID()}`,
    stopping,
    sweepNews: new SweepNews(),
    openRequestNotes: () => openRequestNotes(beatEveryMs(config.CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS), longestPostMs(config)),
    limits: {
      postingWindowMs: config.CARILLON_POSTING_WINDOW_MS,
      requestGapMs: 1000 / config.CARILLON_SUBMITS_PER_SECOND,
      httpTimeoutMs: httpTimeoutMs(config),
      collectMaxMs: config.CARILLON_COLLECT_MAX_MS,
      heartbeatEveryMs: beatEveryMs(config.CARILLON_HEARTBEAT_TIMEOUT_MS),
      leaseMs: config.CARILLON_HEARTBEAT_TIMEOUT_MS,
    },
  };
}

/** Campaigns move to Temporal's current version at their next step: each version can replay its predecessor's histories. */
function versioned(version: WorkerDeploymentVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' };
}

/** Starts a worker per task queue of this database. PostgreSQL allows any number of processes, SQLite one. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { config, connection, namespace, traces = null } = options;
  const stopping = new AbortController();
  const deps = createDependencies(options, stopping.signal);
  const { submit, collect, deliver, ...planning } = createActivities(deps);
  const queues = campaignQueues(config.CARILLON_QUEUE_PREFIX, options.store.ledgerId);
  const shared = {
    connection,
    namespace,
    ...polls,
    interceptors: { activity: traces === null ? [] : [traces.activity] },
    shutdownGraceTime: httpTimeoutMs(config) + config.CARILLON_SUBMIT_SLACK_MS,
    ...(options.version === undefined ? {} : { workerDeploymentOptions: versioned(options.version) }),
  };
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      taskQueue: queues.campaign,
      workflowBundle: options.bundle ?? (await loadWorkflowBundle({ isTraced: traces !== null })),
      ...(traces === null ? {} : { sinks: traces.sinks }),
      activities: planning,
      interceptors: { activity: [...shared.interceptors.activity, beatWhileRunning] },
      stickyQueueScheduleToStartTimeout: config.CARILLON_STICKY_TIMEOUT_MS,
      maxConcurrentActivityTaskExecutions: 10,
    }),
    Worker.create({
      ...shared,
      taskQueue: queues.submit,
      activities: { submit },
      maxConcurrentActivityTaskExecutions: 10,
    }),
    Worker.create({
      ...shared,
      taskQueue: queues.collect,
      activities: { collect, deliver },
      maxConcurrentActivityTaskExecutions: collectSlots,
    }),
  ]);
  let stopped = false;
  const stopAll = () => {
    if (stopped) return;
    stopped = true;
    stopping.abort();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) =>
    worker.run().catch((error: unknown) => {
      stopAll();
      throw error;
    }),
  );
  const figures = config.CARILLON_METRICS_LISTEN === undefined ? null : showFigures({ ...deps, meter: Runtime.instance().metricMeter });
  const webhooks = keepWebhooksRunning({ ...options, client: new Client({ connection, namespace }) });
  const finished = Promise.allSettled(runs).then(async (results) => {
    await webhooks.stop();
    await figures?.stop();
    await deps.service.close();
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
  return {
    finished,
    isRunning: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    stop: async () => {
      stopAll();
      await finished;
    },
  };
}

/**
 * Heartbeats for activities with a heartbeat timeout that send none: Temporal then reassigns a dead process's task long before its timeout.
 * Not for work that may get stuck, which would go unnoticed.
 */
export function beatWhileRunning(context: Context): ActivityInterceptors {
  const { heartbeatTimeoutMs } = context.info;
  if (heartbeatTimeoutMs === undefined) return {};
  return {
    inbound: {
      execute: async (input, next) => {
        const timer = setInterval(() => context.heartbeat(), heartbeatTimeoutMs / 4);
        try {
          return await next(input);
        } finally {
          clearInterval(timer);
        }
      },
    },
  };
}
