import { foreseen } from '../../../shared/input/errors.ts';
import { jsonText } from '../../../shared/input/printable.ts';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { ConfigError, readConfig, type Config } from '../../../shared/config.ts';
import { createLogger, type Logger } from '../../../shared/logger.ts';
import { otherServiceText } from '../../../rules/service-api.ts';
import { describeLocation } from '../../../ledger/open-ledger.ts';
import { listElsewhere } from '../../../ledger/campaign/service-move.ts';
import { commandOf } from '../terminal/command.ts';
import { untilAborted, untilInterrupted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { openWorkerLedger } from '../../../operations/control/ledger.ts';
import { startLocalWorker, type LocalWorker } from '../access/local-worker.ts';
import { accountIdOf, requireApiKey } from '../../../operations/control/service.ts';
import type { Traces } from '../../../temporal/traces.ts';
import { moveCommand } from '../terminal/failure.ts';
import { readVersion } from '../terminal/own-command.ts';
import { pausedByOperator } from '../../../rules/lifecycle.ts';
import type { NewEvent } from '../../../rules/events.ts';
import { describeEvent } from '../../../presentation/words/events.ts';
import type { Store } from '../../../ledger/tx.ts';

const examples = `
Needs Temporal (TEMPORAL_ADDRESS, default localhost:7233), the database (CARILLON_DB or DATABASE_URL) and the service
(SVC_BASE_URL, SVC_API_KEY). A SQLite file allows one worker; PostgreSQL allows any number. A worker may be killed at any
time: another worker continues where it stopped, and no call is placed twice.

On Ctrl-C or SIGTERM the worker takes no new work, finishes the request in progress, and exits with code 0. A second signal ends it
at once. It logs JSON to standard error; CARILLON_LOG_LEVEL=info shows what its campaigns do.

CARILLON_METRICS_LISTEN=9464 serves metrics for Prometheus, CARILLON_HEALTH_LISTEN=9465 the probes /healthz and /readyz.
OTEL_EXPORTER_OTLP_ENDPOINT sends each round of a campaign as a trace to an OpenTelemetry collector (OTLP over HTTP).

Examples:
  carillon worker
  CARILLON_METRICS_LISTEN=9464 CARILLON_HEALTH_LISTEN=9465 carillon worker
  DATABASE_URL=postgres://user:password@host/carillon carillon worker --json
  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 carillon worker
  TEMPORAL_DEPLOYMENT_NAME=carillon TEMPORAL_WORKER_BUILD_ID=0.2.0 carillon worker`;

export const workerCommand = commandOf({
  name: 'worker',
  json: 'print one JSON line on standard output when ready',
  help: examples,
  run: runWorker,
});

/** Runs until interrupted. Throws StoreError, TemporalUnreachableError and ConfigError at start. */
async function runWorker(io: Io, { json }: { json: boolean }): Promise<null> {
  const config = readConfig(io.env);
  requireApiKey(config);
  accountIdOf(config);
  const version = versionOf(config);
  await untilInterrupted(io, async ({ signal: stop }) => {
    const ledger = await openWorkerLedger(config);
    try {
      const logger = createLogger(config.CARILLON_LOG_LEVEL);
      const traces = await openTraces(config, logger);
      ledger.store.onEvents = (events) => {
        logEvents(logger, events);
        traces?.note(events);
      };
      const worker = await startLocalWorker(io, { config, store: ledger.store, logger, version, traces });
      if (json) printReady(io, config, worker, ledger.store.ledgerId);
      if (version !== undefined) logger.info(version, routedText(version));
      announce(logger, config, worker);
      await warnOtherServices(logger, config, ledger.store);
      void warnWrongClock(logger, config);
      await runUntilStopped(logger, worker, stop);
      await traces?.stop();
    } finally {
      await ledger.close();
    }
  });
  return null;
}

/** Lazy import: its modules load slowly. */
async function openTraces(config: Config, logger: Logger): Promise<Traces | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = config;
  if (all === undefined && own === undefined) return null;
  const { traceCampaigns } = await import('../../../temporal/traces.ts');
  return traceCampaigns(logger);
}

/** Throws ConfigError when only one of the two is set. */
function versionOf(config: Config): WorkerDeploymentVersion | undefined {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config;
  if (deploymentName === undefined && buildId === undefined) return undefined;
  if (deploymentName === undefined || buildId === undefined)
    throw new ConfigError(
      'TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID name the version of a worker together: set both, or neither.',
    );
  return { deploymentName, buildId };
}

function routedText({ deploymentName, buildId }: WorkerDeploymentVersion): string {
  return `Temporal gives work to this worker only while its version is current: temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`;
}

function printReady(io: Io, config: Config, { address, namespace }: LocalWorker, ledgerId: string): void {
  const ready = { ready: true, pid: process.pid, address, namespace, ledgerId, service: accountIdOf(config) };
  io.stdout.write(`${jsonText(ready)}\n`);
}

function announce(logger: Logger, config: Config, { address, namespace }: LocalWorker): void {
  const database = describeLocation({ databaseUrl: config.DATABASE_URL, sqlitePath: config.CARILLON_DB });
  const facts = { temporal: address, namespace, database, service: accountIdOf(config), version: readVersion() };
  logger.info(facts, 'the worker is ready; SIGTERM or Ctrl-C stops it');
}

/** Work for another service fails here, and is retried until a worker with that service takes it. */
async function warnOtherServices(logger: Logger, config: Config, store: Store): Promise<void> {
  const own = { accountId: accountIdOf(config), api: config.SVC_API };
  for (const campaign of await listElsewhere(store.db, own)) {
    const { campaignId, accountId, api } = campaign;
    const remedy = api === own.api ? `: ${moveCommand(accountId)}` : '';
    logger.warn({ campaignId }, `${otherServiceText(campaign, own)}${remedy}`);
  }
}

/** Reports a wrong clock at once rather than when the first call is due. */
async function warnWrongClock(logger: Logger, config: Config): Promise<void> {
  const [{ findingsOf }, { Around }] = await Promise.all([import('./doctor.ts'), import('./doctor-check.ts')]);
  const [clock] = await findingsOf(new Around(config, Date.now()), ['Clock']);
  if (clock === undefined || clock.status === 'ok') return;
  logger.warn(`this machine's clock is ${clock.detail}. ${clock.advice ?? ''}`);
}

async function runUntilStopped(logger: Logger, worker: LocalWorker, stop: AbortSignal): Promise<void> {
  await Promise.race([untilAborted(stop), worker.finished]);
  if (!stop.aborted) {
    await worker.finished;
    throw new WorkerEndedError('The worker ended unexpectedly. The log above says why; start it again.');
  }
  logger.info('stopping: a request that is under way may end first; a second signal stops at once');
  await worker.stop();
  logger.info('the worker has stopped; campaigns go on when the next one starts');
}

class WorkerEndedError extends foreseen('WorkerEndedError', false) {}

/** States with reasons, batches, verdicts and ends. */
function logEvents(logger: Logger, events: readonly NewEvent[]): void {
  for (const event of events) {
    try {
      const line = describeEvent(event);
      if (line === null) continue;
      const { campaignId, batchId, type } = event;
      logger[isTrouble(event) ? 'warn' : 'info']({ campaignId, ...(batchId === undefined ? {} : { batchId }), type }, line);
    } catch (error) {
      // A log line must not break the work that it describes.
      logger.debug({ type: event.type, error: String(error) }, 'an event could not be put into words');
    }
  }
}

/** Events that an operator should check: a failure or automatic pause, a batch without an answer, a failed hook. */
function isTrouble({ type, data }: NewEvent): boolean {
  if (type === 'campaign.state') return data.to === 'failed' || (data.to === 'paused' && data.reason !== pausedByOperator);
  return type === 'hook.failed' || type === 'caller.out' || (type === 'post.verdict' && data.verdict === 'unknown');
}
