import { Command } from 'commander';
import { readConfig, type Config } from '../config.ts';
import { createLogger, type Logger } from '../logger.ts';
import { otherServiceText } from '../domain/service-address.ts';
import { describeLocation, type Store } from '../store/open-store.ts';
import { listElsewhere } from '../store/service-move.ts';
import type { Io } from './io.ts';
import { openWorkerLedger } from './ledger-access.ts';
import { startLocalWorker, type LocalWorker } from './local-worker.ts';
import { accountIdOf, requireApiKey } from './service-access.ts';

const examples = `
Needs Temporal (TEMPORAL_ADDRESS, default localhost:7233), the database (CARILLON_DB or DATABASE_URL) and the service
(SVC_BASE_URL, SVC_API_KEY). A SQLite file takes one worker; PostgreSQL takes any number. A worker may be killed at any
moment: another one goes on where it stopped, and no call is placed twice.

Ctrl-C or SIGTERM: no new work is taken, a request that is under way ends, then it exits with 0. A second signal ends it at
once. Log lines are JSON on standard error (CARILLON_LOG_LEVEL).

Examples:
  carillon worker
  DATABASE_URL=postgres://user:password@host/carillon carillon worker --json`;

export function workerCommand(io: Io): Command {
  return new Command('worker')
    .description('Do the work of campaigns until stopped')
    .option('--json', 'print one JSON line on standard output when ready', false)
    .addHelpText('after', examples)
    .action(async (options: { json: boolean }) => {
      await runWorker(io, options);
    });
}

/** Works until interrupted. Throws StoreError, TemporalUnreachableError and ConfigError when it cannot begin. */
export async function runWorker(
  io: Io,
  options: { json: boolean },
  createLog: (config: Config) => Logger = ({ CARILLON_LOG_LEVEL }) => createLogger(CARILLON_LOG_LEVEL),
): Promise<void> {
  const config = readConfig(io.env);
  requireApiKey(config);
  accountIdOf(config);
  const stopping = new AbortController();
  const takeBack = io.onInterrupt(() => stopping.abort());
  try {
    const ledger = await openWorkerLedger(config);
    try {
      const worker = await startLocalWorker(io, { config, store: ledger.store, logger: createLog(config) });
      announce(io, config, worker, ledger.store.ledgerId, options.json);
      await tellElsewhere(io, config, ledger.store);
      await runUntilStopped(io, worker, stopping.signal);
    } finally {
      await ledger.close();
    }
  } finally {
    takeBack();
  }
}

function announce(io: Io, config: Config, worker: LocalWorker, ledgerId: string, json: boolean): void {
  const { address, namespace } = worker;
  const database = describeLocation({ databaseUrl: config.DATABASE_URL, sqlitePath: config.CARILLON_DB });
  if (json)
    io.stdout.write(
      `${JSON.stringify({ ready: true, pid: process.pid, address, namespace, ledgerId, service: accountIdOf(config) })}\n`,
    );
  io.stderr.write(
    `The worker is ready: Temporal at ${address} (namespace ${namespace}), ${database}, service ${accountIdOf(config)}. Ctrl-C stops it.\n`,
  );
}

/** Their work fails here, and is tried again until a worker with their service takes it. */
async function tellElsewhere(io: Io, config: Config, store: Store): Promise<void> {
  const address = accountIdOf(config);
  for (const campaign of await listElsewhere(store.db, address))
    io.stderr.write(`Warning: ${otherServiceText(campaign, address)}.\n`);
}

async function runUntilStopped(io: Io, worker: LocalWorker, stop: AbortSignal): Promise<void> {
  const asked = new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([asked, worker.finished]);
  if (!stop.aborted) {
    await worker.finished;
    throw new WorkerEndedError(
      'The worker has ended although nobody asked it to. The log above says why; start it again.',
    );
  }
  io.stderr.write('Stopping: a request that is under way may end first. Again to stop at once.\n');
  await worker.stop();
  io.stderr.write('The worker has stopped. Campaigns go on when the next one starts.\n');
}

/** Thrown when the worker ended by itself. */
export class WorkerEndedError extends Error {
  override readonly name = 'WorkerEndedError' as const;
  readonly exitCode = 1;
}
