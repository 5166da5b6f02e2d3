import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, type LogEntry } from '@temporalio/worker';
import { listenText, type ListenAddress } from '../shared/config.ts';
import type { Logger } from '../shared/logger.ts';

/** Fields that may be logged: ids and counts, never inputs or results. */
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

/** Expected: our workers serve one kind of work per queue. */
const expected = /^(No (workflows|activities|Nexus services) registered|Worker state changed)/;
const unanswered = /^gRPC call \w+ retried \d+ times/;
/** Retries pause at most ten seconds, so a longer silence means success. */
const quietMs = 60_000;

let target: Logger | null = null;
let server: string | null = null;

/**
 * Sends SDK log lines, native ones included, to `logger`, serves metrics at `metrics`, and leaves signals to this program. Call it before
 * the first worker or native connection; later calls change only the logger and the server address in its lines.
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
      // The command stops its parts itself, in order.
      shutdownSignals: [],
    });
  } catch (error) {
    // Another part of this process has started a worker already.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** Counters end in `_total`, durations are in seconds with that unit in the name. */
function exporterAt(metrics: ListenAddress) {
  const prometheus = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
  return { attachServiceName: false, prometheus: { ...prometheus, bindAddress: listenText(metrics) } };
}

/** While the server is down, the SDK's many lines become one. */
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

/** The native core's message, without the call's metadata. */
function describeStatus(text: string): string {
  const [, code] = /code: '?([^',]+)/.exec(text) ?? [];
  // The innermost message is the operating system's.
  const cause = [...text.matchAll(/message: "([^"]*)"/g)].at(-1)?.[1];
  return [code, cause].filter((part) => part !== undefined && part !== '').join(': ') || (text.split('\n')[0] ?? '');
}
