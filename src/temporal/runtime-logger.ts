import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, type LogEntry } from '@temporalio/worker';
import { listenText, type ListenAddress } from '../shared/config.ts';
import type { Logger } from '../shared/logger.ts';

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

/** What a worker of ours always says: its queues are kept apart by kind of work. */
const expected = /^(No (workflows|activities|Nexus services) registered|Worker state changed)/;
const unanswered = /^gRPC call \w+ retried \d+ times/;
/** The longest pause between two tries is ten seconds: who has been silent for this long was answered meanwhile. */
const quietMs = 60_000;

let target: Logger | null = null;
let server: string | null = null;

/**
 * Sends the SDK's log lines to `logger`, native ones included, serves its metrics at `metrics`, and leaves signals to this program. Call
 * it before the first worker or native connection of the process; later calls change the logger only, and the address of the server
 * that its lines name.
 */
export function installRuntime(
  logger: Logger,
  { address = null, metrics }: { address?: string | null; metrics?: ListenAddress | undefined } = {},
): void {
  const first = target === null;
  target = logger;
  server = address;
  if (!first) return;
  try {
    Runtime.install({
      logger: createSdkLogger(
        () => target ?? logger,
        () => server,
      ),
      telemetryOptions: {
        logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
        ...(metrics === undefined ? {} : { metrics: exporterAt(metrics) }),
      },
      // The command itself stops its parts, in order.
      shutdownSignals: [],
    });
  } catch (error) {
    // A worker that another part of this process has started already: its runtime stays as it is.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** Names as Prometheus has them: counters end in `_total`, durations are in seconds and say so. */
function exporterAt(metrics: ListenAddress) {
  const prometheus = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
  return { attachServiceName: false, prometheus: { ...prometheus, bindAddress: listenText(metrics) } };
}

/** The SDK's logger as lines of ours. While the server is down its many lines are one. */
export function createSdkLogger(
  current: () => Logger,
  address: () => string | null,
  monotonicMs: () => number = () => performance.now(),
): DefaultLogger {
  let lastUnanswered = -Infinity;
  return new DefaultLogger('TRACE', ({ level, message, meta = {} }: LogEntry): void => {
    if (unanswered.test(message)) {
      const isNew = monotonicMs() - lastUnanswered > quietMs;
      lastUnanswered = monotonicMs();
      if (isNew)
        current().warn(
          { temporal: address(), ...describeError(meta['error']) },
          'Temporal gives no answer: nothing moves until it does, nothing is lost, and it is tried again and again',
        );
      return;
    }
    const fields = Object.fromEntries(keptFields.flatMap((key) => (key in meta ? [[key, meta[key] as unknown]] : [])));
    current()[expected.test(message) ? 'debug' : levels[level]]({ ...fields, ...describeError(meta['error']) }, message);
  });
}

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

function describeError(error: unknown): { error?: string } {
  if (typeof error === 'string') return { error: describeStatus(error) };
  if (!(error instanceof Error)) return {};
  const type = 'type' in error && typeof error.type === 'string' ? ` ${error.type}` : '';
  return { error: `${error.name}${type}: ${error.message.split('\n')[0] ?? ''}` };
}

/** What the native core says of a failed call, without its metadata. */
function describeStatus(text: string): string {
  const [, code] = /code: '?([^',]+)/.exec(text) ?? [];
  // The innermost one is that of the operating system.
  const cause = [...text.matchAll(/message: "([^"]*)"/g)].at(-1)?.[1];
  return [code, cause].filter((part) => part !== undefined && part !== '').join(': ') || (text.split('\n')[0] ?? '');
}
