import { IllegalStateError } from '@temporalio/common';
import { Runtime, type Logger as SdkLogger, type LogLevel, type LogMetadata } from '@temporalio/worker';
import type { Logger } from '../logger.ts';

/** What a log line of the SDK may carry on: ids and counts, never inputs or results. */
const keptFields = [
  'sdkComponent',
  'taskQueue',
  'workflowType',
  'workflowId',
  'runId',
  'activityType',
  'activityId',
  'attempt',
  'state',
  'durationMs',
] as const;

let target: Logger | null = null;

/**
 * Sends the SDK's log lines to `logger`, native ones included, and leaves signals to this program. Call it before the first worker or
 * native connection of the process; later calls change the logger only.
 */
export function installRuntime(logger: Logger): void {
  const first = target === null;
  target = logger;
  if (!first) return;
  try {
    Runtime.install({
      logger: createSdkLogger(() => target ?? logger),
      telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
      // The command itself stops its parts, in order.
      shutdownSignals: [],
    });
  } catch (error) {
    // A worker that another part of this process has started already: its runtime stays as it is.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** The SDK's logger as lines of ours. */
export function createSdkLogger(current: () => Logger): SdkLogger {
  const log = (level: LogLevel, message: string, meta: LogMetadata = {}): void => {
    const fields = Object.fromEntries(keptFields.flatMap((key) => (key in meta ? [[key, meta[key] as unknown]] : [])));
    current()[levels[level]]({ ...fields, ...describeError(meta['error']) }, message);
  };
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

function describeError(error: unknown): { error?: string } {
  if (!(error instanceof Error)) return {};
  const type = 'type' in error && typeof error.type === 'string' ? ` ${error.type}` : '';
  return { error: `${error.name}${type}: ${error.message.split('\n')[0] ?? ''}` };
}
