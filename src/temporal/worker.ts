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
  /** Default: the bundle of the build, or one made now. */
  bundle?: WorkflowBundle;
  /** With it, Temporal hands work to this worker only while it calls this version current. Default: whatever comes. */
  version?: WorkerDeploymentVersion | undefined;
  /** Where spans are sent. Default: there are none. */
  traces?: Traces | null;
}

export interface RunningWorker {
  /** Settles when the worker has stopped; rejects when it failed. */
  finished: Promise<void>;
  /** Whether it takes work: not before it has begun, nor once it is asked to stop. */
  isRunning(): boolean;
  /** Takes no new work, lets POSTs that are under way end, and resolves when all is quiet. */
  stop(): Promise<void>;
}

/**
 * Campaigns that one process collects for at the same time. A collect holds its slot for minutes, most of them in a timer, and a campaign
 * beyond the last slot would wait as long: there are more slots than one process ever has campaigns.
 */
const collectSlots = 1_000;

/**
 * Tasks that a process asks for at the same time, per queue. Temporal answers who has asked longest, also a process that stands still, and
 * misses each such task only when its heartbeats fail to come: the fewer it has asked for, the sooner the others have them all.
 */
const polls = { maxConcurrentActivityTaskPolls: 1, maxConcurrentWorkflowTaskPolls: 5 };

function createDependencies({ config, store, logger }: WorkerOptions, stopping: AbortSignal): ActivityDependencies {
  const service = connectService({
    ...serviceSettings(config),
    apiKey: config.SVC_API_KEY ?? '',
    // Temporal tries activities again, with pauses that it keeps through a restart.
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

/** Campaigns move on to the version that Temporal calls current, at their next step: each version replays the histories of the last. */
function versioned(version: WorkerDeploymentVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' };
}

/** Starts the workers of one process, one for each task queue of this database. PostgreSQL takes any number, SQLite one process. */
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
 * Heartbeats for every activity that has a heartbeat timeout and sends none itself, as long as its process lives: Temporal gives the
 * task of a dead or standing process to another long before its time is up. Not for work that may get stuck: it would not be noticed.
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
