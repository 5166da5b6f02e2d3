import type { Client, Connection } from '@temporalio/client';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnection, NativeConnectionOptions } from '@temporalio/worker';
import { proxyFor, ProxyError, type Proxy } from '../shared/network/proxies.ts';
import { ConfigError, readProxies, type Config } from '../shared/config.ts';

export interface TemporalTarget {
  /** `host:port`. */
  address: string;
  namespace: string;
}

export interface ConnectOptions {
  /** Connects in plain text and without any profile's credentials, for an own dev server. */
  target?: TemporalTarget;
  /** Default 10 s, for everything together. */
  timeoutMs?: number;
  /** Replaces the environment of this process. */
  env?: Record<string, string>;
}

type ConnectConfig = Partial<Config>;

/** Loads slowly, and many commands need only the database. */
export const loadClient = () => import('@temporalio/client');

/** Thrown when the server cannot be reached or used in time; its message says what, where and what to do. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError' as const;
  readonly isBadInput = false;
  readonly address: string;

  constructor(address: string, reason: string, cause?: unknown, proxy: Proxy | null = null) {
    const way = proxy === null ? '' : ` through the proxy ${proxy.place} (${proxy.variable})`;
    super(`Temporal at ${address}${way} cannot be used: ${reason}`, { cause });
    this.address = address;
  }
}

/** Connects workflow clients, bound to the namespace. Close it at the end. */
export async function connectTemporal(
  config: ConnectConfig,
  options: ConnectOptions = {},
): Promise<TemporalTarget & { connection: Connection; client: Client }> {
  const { connectionOptions, ...target } = await readTarget(config, options);
  const timeoutMs = options.timeoutMs ?? 10_000;
  const deadline = Date.now() + timeoutMs;
  const proxy = await proxyOfTemporal(config, options);
  const sdk = await loadClient();
  const connection = sdk.Connection.lazy({ ...connectionOptions, ...grpcThrough(proxy, target.address), connectTimeout: timeoutMs });
  try {
    await connection.ensureConnected();
    await requireNamespace(connection, target, deadline);
  } catch (error) {
    await connection.close();
    throw await explain(error, target, timeoutMs, proxy);
  }
  return { ...target, connection, client: new sdk.Client({ connection, namespace: target.namespace }) };
}

/** Connects workers, on the native core. Close it after the worker has drained. */
export async function connectTemporalNative(
  config: ConnectConfig,
  options: ConnectOptions = {},
): Promise<TemporalTarget & { connection: NativeConnection }> {
  const { connectionOptions, ...target } = await readTarget(config, options);
  const timeoutMs = options.timeoutMs ?? 10_000;
  const deadline = Date.now() + timeoutMs;
  // Only workers need the native core, which loads slowly.
  const { NativeConnection: native } = await import('@temporalio/worker');
  const proxy = await proxyOfTemporal(config, options);
  const connecting = native.connect({ ...connectionOptions, ...(proxy === null ? {} : { proxy: coreProxy(proxy) }) });
  try {
    const connection = await withinLimit(connecting, timeoutMs);
    await requireNamespace(connection, target, deadline);
    return { ...target, connection };
  } catch (error) {
    // Cannot be cancelled: a late success is closed.
    connecting.then((late) => late.close()).catch(() => {});
    throw await explain(error, target, timeoutMs, proxy);
  }
}

/** Reads the `TEMPORAL_*` variables and the toml profile. Throws ConfigError. */
async function readTarget(
  config: ConnectConfig,
  { target, env }: ConnectOptions,
): Promise<TemporalTarget & { connectionOptions: ClientConnectConfig['connectionOptions'] }> {
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  let loaded: ClientConnectConfig;
  try {
    loaded = target === undefined ? loadClientConnectConfig(env === undefined ? {} : { overrideEnvVars: env }) : { connectionOptions: {} };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`The Temporal settings (TEMPORAL_* variables, or the file TEMPORAL_CONFIG_FILE) cannot be used: ${reason}`, {
      cause: error,
    });
  }
  const address = target?.address ?? config.TEMPORAL_ADDRESS ?? loaded.connectionOptions.address ?? 'localhost:7233';
  if (address.includes('://')) {
    throw new ConfigError(`TEMPORAL_ADDRESS is ${address}: give host:port without a scheme, such as localhost:7233.`);
  }
  const namespace = target?.namespace ?? config.TEMPORAL_NAMESPACE ?? loaded.namespace ?? 'default';
  return { address, namespace, connectionOptions: { ...loaded.connectionOptions, address } };
}

/** gRPC's own proxy detection would proxy loopback, and reads the variables in its own way. */
export const withoutProxy = { 'grpc.enable_http_proxy': 0 };

/** The proxy of these connections; null: direct. Throws ConfigError. */
export async function proxyOfTemporal(config: ConnectConfig, options: ConnectOptions = {}): Promise<Proxy | null> {
  const { address, connectionOptions } = await readTarget(config, options);
  const [, hostname = address, port = '7233'] = /^(.*?):(\d+)$/.exec(address) ?? [];
  const { tls, apiKey } = connectionOptions;
  // As in the SDK, an API key alone implies TLS.
  const isEncrypted = tls === undefined || tls === null ? apiKey !== undefined : tls !== false;
  const protocol = isEncrypted ? 'https:' : 'http:';
  try {
    const proxy = await proxyFor({ protocol, hostname, port: Number(port) }, readProxies(config));
    if (proxy === null || proxy.url.protocol === 'http:') return proxy;
  } catch (error) {
    throw error instanceof ProxyError ? new ConfigError(error.message, { cause: error }) : error;
  }
  throw new ConfigError(
    'Temporal cannot be reached through a proxy that itself is reached by https://: name one by http://, or the host of TEMPORAL_ADDRESS in NO_PROXY.',
  );
}

const hostOf = ({ url }: Proxy): string => `${url.hostname}:${url.port === '' ? '80' : url.port}`;

function grpcThrough(proxy: Proxy | null, address: string): { address: string; channelArgs: Record<string, string | number> } {
  if (proxy === null) return { address, channelArgs: withoutProxy };
  const target = /:\d+$/.test(address) ? address : `${address}:7233`;
  return {
    address: hostOf(proxy),
    channelArgs: {
      ...withoutProxy,
      'grpc.http_connect_target': `dns:${target}`,
      'grpc.default_authority': target,
      ...(proxy.login === null ? {} : { 'grpc.http_connect_creds': `${proxy.login.user}:${proxy.login.password}` }),
    },
  };
}

function coreProxy(proxy: Proxy): NonNullable<NativeConnectionOptions['proxy']> {
  const { login } = proxy;
  const basicAuth = login === null ? {} : { basicAuth: { username: login.user, password: login.password } };
  return { type: 'http-connect', targetHost: hostOf(proxy), ...basicAuth };
}

/** gRPC status numbers that decide what the operator has to do. */
const grpcStatus = { notFound: 5, permissionDenied: 7, unauthenticated: 16 };

async function requireNamespace(connection: Connection | NativeConnection, target: TemporalTarget, deadline: number): Promise<void> {
  await connection.withDeadline(deadline, () => connection.workflowService.describeNamespace({ namespace: target.namespace }));
}

async function explain(
  error: unknown,
  { address, namespace }: TemporalTarget,
  timeoutMs: number,
  proxy: Proxy | null,
): Promise<TemporalUnreachableError> {
  const { isGrpcServiceError, ServiceError } = await loadClient();
  const source = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  const code: number | null = isGrpcServiceError(source) ? source.code : null;
  const unusable = (reason: string) => new TemporalUnreachableError(address, reason, error, proxy);
  if (code === grpcStatus.notFound) {
    const advice = `create it (temporal operator namespace create --namespace ${namespace} --retention 30d) or set TEMPORAL_NAMESPACE`;
    return unusable(`it has no namespace "${namespace}"; ${advice}.`);
  }
  if (code === grpcStatus.permissionDenied || code === grpcStatus.unauthenticated) {
    const advice = 'check TEMPORAL_API_KEY, the TEMPORAL_TLS_* variables and TEMPORAL_NAMESPACE';
    return unusable(`it refuses these credentials for namespace "${namespace}"; ${advice}.`);
  }
  const advice = 'Start it, or set TEMPORAL_ADDRESS to a server that runs; if it wants TLS or a key, set TEMPORAL_TLS or TEMPORAL_API_KEY.';
  const reason = code === null ? 'it cannot be reached' : `it gives no answer (gRPC status ${code})`;
  return unusable(`${reason}, waited at most ${timeoutMs / 1000} s. ${advice}`);
}

export async function withinLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The time is over.')), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** A poll lasts up to a minute, and the server forgets a poller only after minutes. */
const goneAfterMs = 75_000;

/** Recent pollers of this queue; a killed one counts for a minute. Throws what the connection throws. */
export async function countWorkers(
  connection: Connection,
  queue: { namespace: string; name: string; limitMs: number; now: number },
): Promise<number> {
  const { pollers } = await connection.withDeadline(Date.now() + queue.limitMs, () =>
    connection.workflowService.describeTaskQueue({
      namespace: queue.namespace,
      taskQueue: { name: queue.name },
    }),
  );
  const present = (pollers ?? []).filter(({ lastAccessTime }) => {
    return lastAccessTime?.seconds == null || queue.now - lastAccessTime.seconds.toNumber() * 1000 < goneAfterMs;
  });
  return new Set(present.map(({ identity }) => identity)).size;
}
