import { lastEventSeq, readAllEvents } from '../../ledger/events.ts';
import { foreseen } from '../../shared/input/errors.ts';
import { ConfigError, readProxies, serviceSettings, type Config } from '../../shared/config.ts';
import { parseBaseUrl, serviceAddress } from '../../service/port/address.ts';
import type { CallService } from '../../service/port/call-service.ts';
import type { ConnectOptions } from '../../service/registry.ts';
import { ServiceError, ServiceOptionsError, NotSentError, RefusedError } from '../../service/port/errors.ts';
import { realClock, type ServiceClock } from '../../service/port/service-clock.ts';
import type { Control } from './control.ts';
import type { ListedConversation, ServiceList } from '../../verify/service.ts';

/** Thrown when the service cannot be used now; its message says where, why and what to do. */
export class ServiceUnusableError extends foreseen('ServiceUnusableError', false) {}

const clockLimitMs = 5_000;

/** Normalised address of the service. Throws ConfigError. */
export function accountIdOf(config: Config): string {
  return asSetting(() => serviceAddress(config.SVC_BASE_URL));
}

/** Most reads need only the database. */
const loadRegistry = () => import('../../service/registry.ts');

/** Opens the service; close it. Throws ConfigError. */
export async function openService(config: Config): Promise<CallService> {
  const { connectService } = await loadRegistry();
  return openWith(config, connectService);
}

/** Calls `open` with the configured address, key and limits; close the result. Throws ConfigError. */
export function openWith<Opened>(config: Config, open: (options: ConnectOptions) => Opened): Opened {
  const apiKey = requireApiKey(config);
  return asSetting(() =>
    open({
      ...serviceSettings(config),
      apiKey,
      // A user waits, and can retry later.
      retriesAfter429: { reads: 0 },
    }),
  );
}

/** Opens the service for one piece of work. Throws ConfigError, and what `explain` makes of a service error. */
export async function withService<Result>(
  config: Config,
  work: (service: CallService) => Promise<Result>,
  explain?: (error: unknown) => unknown,
): Promise<Result> {
  return whileOpen(await openService(config), work, explain ?? ((error) => explainServiceFault(config, error)));
}

/** Closes `open` afterwards. Throws what `explain` makes of an error. */
export async function whileOpen<Opened extends Pick<CallService, 'close'>, Result>(
  opened: Opened,
  work: (opened: Opened) => Promise<Result>,
  explain: (error: unknown) => unknown,
): Promise<Result> {
  try {
    return await work(opened);
  } catch (error) {
    throw explain(error);
  } finally {
    await opened.close();
  }
}

export function requireApiKey(config: Config): string {
  if (config.SVC_API_KEY !== undefined) return config.SVC_API_KEY;
  throw new ConfigError(
    `SVC_API_KEY is not set. Set it to the key of the service at ${config.SVC_BASE_URL}; carillon sandbox and carillon dev print theirs.`,
  );
}

/** Throws ServiceUnusableError, and ConfigError for a forbidden address. */
export async function readClock(config: Config, limitMs = clockLimitMs): Promise<ServiceClock> {
  asSetting(() => parseBaseUrl(config.SVC_BASE_URL, false));
  try {
    return await (await loadRegistry()).readServiceClock(config.SVC_BASE_URL, limitMs, Date.now, readProxies(config));
  } catch (error) {
    throw explainServiceFault(config, error);
  }
}

/** Real time without an answer: to show instants, never to decide. */
export async function readClockOrReal(config: Config, limitMs: number, now: () => number): Promise<ServiceClock> {
  try {
    return await (await loadRegistry()).readServiceClock(config.SVC_BASE_URL, limitMs, Date.now, readProxies(config));
  } catch {
    return realClock(now);
  }
}

const timeLimitMs = 3_000;

type Timed = Pick<Control, 'config' | 'now'> & { store?: Control['store'] };

/** Without an answer soon: this machine's time, or the last event's if later (a fast sandbox). */
export async function readServiceTime({ config, now, store }: Timed): Promise<number> {
  try {
    return Math.round((await readClock(config, timeLimitMs)).now());
  } catch {
    const [last] = store === undefined ? [] : await readAllEvents(store.db, (await lastEventSeq(store.db)) - 1, 1);
    return Math.max(now(), last?.at ?? 0);
  }
}

/** Rewords a client error in terms of the settings; others stay. */
export function explainServiceFault(config: Config, error: unknown): unknown {
  if (error instanceof ServiceOptionsError) return new ConfigError(`SVC_BASE_URL: ${error.message}`, { cause: error });
  if (!(error instanceof ServiceError)) return error;
  const url = config.SVC_BASE_URL;
  if (error instanceof NotSentError) {
    return new ServiceUnusableError(
      `The service at ${url} cannot be reached. Check SVC_BASE_URL and that it is up (carillon sandbox runs it on this machine).`,
      { cause: error },
    );
  }
  if (error instanceof RefusedError && (error.status === 401 || error.status === 403)) {
    return new ServiceUnusableError(
      `The service at ${url} refuses the API key (${error.status}): set SVC_API_KEY.${error.status === 401 ? otherHeader : ''}`,
      {
        cause: error,
      },
    );
  }
  return new ServiceUnusableError(`The service at ${url} gives no usable answer: ${error.message}`, { cause: error });
}

const otherHeader = ' If the key is right, SVC_API is wrong, which says in which header it is sent: carillon doctor names the right one.';

function asSetting<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    if (error instanceof ServiceOptionsError) throw new ConfigError(`SVC_BASE_URL: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Reads the service's own lists for `verify`. */
export function serviceList(config: Config, service: CallService): ServiceList {
  return {
    accountId: accountIdOf(config),
    list: (agentId) => explained(config, listedBy(service, agentId)),
    ...(service.batches === undefined ? {} : { batches: batchesOf(config, service) }),
  };
}

function batchesOf(config: Config, service: CallService): NonNullable<ServiceList['batches']> {
  return {
    api: config.SVC_API,
    list: () => explained(config, service.batches?.() ?? []),
    async report(serviceBatchId) {
      try {
        return (await service.report?.(serviceBatchId)) ?? null;
      } catch (error) {
        if (error instanceof RefusedError && error.status === 404) return null;
        throw explainServiceFault(config, error);
      }
    },
  };
}

async function* listedBy(service: CallService, agentId: string): AsyncGenerator<ListedConversation> {
  for await (const { direction, ...facts } of service.allRecords({ agentId })) yield { ...facts, inbound: direction === 'inbound' };
}

async function* explained<Entry>(config: Config, entries: AsyncIterable<Entry> | readonly Entry[]): AsyncGenerator<Entry> {
  try {
    yield* entries;
  } catch (error) {
    throw explainServiceFault(config, error);
  }
}
