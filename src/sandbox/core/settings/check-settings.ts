import { isLoopbackAddress } from '../allowed-host.ts';
import { retryAfterStyles } from './retry-after.ts';
import type { SandboxSettings } from './settings.ts';
import { SandboxStartError } from '../start-error.ts';

/** Throws `SandboxStartError`. */
export function checkSettings(settings: SandboxSettings): void {
  const { host, port, speed, concurrency, maxCallsPerBatch, meanTalkSeconds, outcomeMix, requestsPerSecond } = settings;
  if (!isLoopbackAddress(host) && settings.controlToken === null) {
    throw new SandboxStartError(
      `The sandbox setting host is "${host}", which others can reach; that takes a control token. Give one in a file (--control-token-file) or in CARILLON_SANDBOX_TOKEN, or listen on 127.0.0.1.`,
    );
  }
  requireThat(
    Number.isInteger(port) && port >= 0 && port <= 65_535,
    'port',
    port,
    'a whole number from 0 (any free port) to 65535',
  );
  requireThat(
    Number.isFinite(speed) && speed > 0 && speed <= 100_000,
    'speed',
    speed,
    'a number above 0, at most 100000',
  );
  requireThat(
    Number.isInteger(concurrency) && concurrency > 0,
    'concurrency',
    concurrency,
    'a whole number of at least 1',
  );
  requireThat(
    Number.isInteger(maxCallsPerBatch) && maxCallsPerBatch > 0,
    'maxCallsPerBatch',
    maxCallsPerBatch,
    'a whole number of at least 1',
  );
  requireThat(meanTalkSeconds > 0, 'meanTalkSeconds', meanTalkSeconds, 'a number above 0');
  requireThat(
    requestsPerSecond === null || requestsPerSecond > 0,
    'rateLimit.requestsPerSecond',
    requestsPerSecond,
    'null or a number above 0',
  );
  requireThat(
    settings.controlToken === null || /^[\x21-\x7e]{16,}$/.test(settings.controlToken),
    'controlToken',
    '(not shown)',
    'at least 16 printable characters without spaces',
  );
  requireThat(
    retryAfterStyles.includes(settings.retryAfter),
    'retryAfter',
    settings.retryAfter,
    `one of ${retryAfterStyles.join(', ')}`,
  );
  const hours = settings.conduct.callingHours;
  requireThat(
    hours === null || (isTimeOfDay(hours.start) && isTimeOfDay(hours.end) && hours.start < hours.end),
    'conduct.callingHours',
    hours === null ? hours : `${hours.start} to ${hours.end}`,
    'two times of day as HH:MM, the first before the second',
  );
  for (const host of settings.outbound.hosts)
    requireThat(/^[^\s/@]+$/.test(host), 'allowOutbound', host, 'a host as it stands in an address: name or name:port');
  for (const [limit, value] of Object.entries(settings.modelLimits))
    requireThat(Number.isInteger(value) && value > 0, `modelLimits.${limit}`, value, 'a whole number of at least 1');
  const { pacing, ...amounts } = settings.sockets;
  requireThat(pacing === 'realtime' || pacing === 'fast', 'sockets.pacing', pacing, 'realtime or fast');
  for (const [name, value] of Object.entries(amounts))
    requireThat(Number.isInteger(value) && value > 0, `sockets.${name}`, value, 'a whole number of at least 1');
  const weights = Object.values(outcomeMix);
  const usable = weights.every((weight) => weight >= 0) && weights.some((weight) => weight > 0);
  requireThat(usable, 'outcomeMix', JSON.stringify(outcomeMix), 'weights of 0 or more, not all 0');
}

function isTimeOfDay(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/.test(text);
}

function requireThat(holds: boolean, setting: string, value: unknown, allowed: string): void {
  if (!holds) throw new SandboxStartError(`The sandbox setting ${setting} is ${String(value)}; it must be ${allowed}.`);
}
