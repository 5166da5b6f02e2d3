import { isIPv4, isIPv6, type BlockList } from 'node:net';
import { z } from 'zod';
import { readNetworks } from './hooks/networks.ts';
import type { Proxies, ProxyVariable } from './network/proxies.ts';
import { readPostgresAddress } from './input/postgres-address.ts';
import { didYouMean } from '../rules/nearest-name.ts';
import { keyHeaders, serviceApis } from '../rules/service-api.ts';
import { readSigningKeys } from './hooks/signature.ts';

const milliseconds = z.coerce.number().int().positive();

export interface ListenAddress {
  /** An IP address. */
  host: string;
  port: number;
}

/** A local port, or an address with a port. */
const listenAddress = z.string().transform((text, context): ListenAddress => {
  const { host = '127.0.0.1', port = '' } = /^(?:(?<host>.+):)?(?<port>[1-9]\d{0,4})$/.exec(text)?.groups ?? {};
  const [, inner = ''] = /^\[(.+)\]$/.exec(host) ?? [];
  if (port !== '' && Number(port) <= 65_535) {
    if (isIPv4(host)) return { host, port: Number(port) };
    if (isIPv6(inner)) return { host: inner, port: Number(port) };
  }
  context.addIssue(
    'write a port from 1 to 65535, such as 9464, for this machine alone, or an IP address and a port, such as 0.0.0.0:9464 or [::]:9464',
  );
  return z.NEVER;
});

/** Networks open to hooks and webhooks besides the internet. */
const networks = z.string().transform((text, context): BlockList => {
  const list = readNetworks(text);
  if (list !== null) return list;
  context.addIssue('write addresses and ranges with commas between them, such as 127.0.0.1, 10.2.0.0/16');
  return z.NEVER;
});

/** `host:port`, as in an HTTP URL. */
export function listenText({ host, port }: ListenAddress): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Parses `SVC_WEBHOOK_SECRET`: one secret, or several during a rotation. */
export function readSecrets(text: string): string[] {
  return text.trim().split(/\s+/);
}
const leastSecret = 16;

const environment = z.object({
  SVC_BASE_URL: z.url({ protocol: /^https?$/ }).default('http://127.0.0.1:4010'),
  SVC_API_KEY: z.string().min(1).optional(),
  SVC_API: z
    .enum(serviceApis, { error: ({ input }) => `"${String(input)}" is no interface: write ${serviceApis.join(', ')}` })
    .default('contract'),
  SVC_WEBHOOK_SECRET: z
    .string()
    .refine((text) => readSecrets(text).every((secret) => secret.length >= leastSecret), {
      error: `write a secret of ${leastSecret} characters or more; blanks stand between several`,
    })
    .optional(),
  SVC_CONNECT_TIMEOUT_MS: milliseconds.default(10_000),
  SVC_HEADERS_TIMEOUT_MS: milliseconds.default(60_000),
  SVC_BODY_TIMEOUT_MS: milliseconds.default(30_000),
  SVC_READS_PER_SECOND: z.coerce.number().positive().default(20),
  DATABASE_URL: z.string().min(1).optional(),
  CARILLON_DB: z.string().min(1).default('./carillon.db'),
  CARILLON_DB_CONNECTION_AGE_MS: milliseconds.default(300_000),
  CARILLON_QUEUE_PREFIX: z.string().min(1).default('carillon'),
  CARILLON_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  CARILLON_HEARTBEAT_TIMEOUT_MS: milliseconds.default(15_000),
  CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS: milliseconds.default(10_000),
  CARILLON_COLLECT_MAX_MS: milliseconds.default(300_000),
  CARILLON_POSTING_WINDOW_MS: milliseconds.default(60_000),
  CARILLON_SUBMIT_SLACK_MS: milliseconds.default(30_000),
  CARILLON_SHORT_TIMEOUT_MS: milliseconds.default(60_000),
  CARILLON_STICKY_TIMEOUT_MS: milliseconds.default(10_000),
  CARILLON_SUBMITS_PER_SECOND: z.coerce.number().positive().default(5),
  CARILLON_METRICS_LISTEN: listenAddress.optional(),
  CARILLON_HEALTH_LISTEN: listenAddress.optional(),
  CARILLON_HOOK_SECRET: z
    .string()
    .refine((text) => readSigningKeys(text) !== null, {
      error: 'write whsec_ and 24 to 64 bytes in base64, or text of 16 characters or more; blanks stand between several',
    })
    .optional(),
  CARILLON_HOOK_NETWORKS: networks.optional(),
  CARILLON_SANDBOX_TOKEN: z.string().min(1).optional(),
  LIVEKIT_API_KEY: z.string().min(1).optional(),
  LIVEKIT_API_SECRET: z.string().min(1).optional(),
  CARILLON_TEMPORAL_BIN: z.string().min(1).optional(),
  TEMPORAL_ADDRESS: z.string().min(1).optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).optional(),
  TEMPORAL_DEPLOYMENT_NAME: z.string().min(1).optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().min(1).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().min(1).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().min(1).optional(),
  http_proxy: z.string().optional(),
  HTTP_PROXY: z.string().optional(),
  https_proxy: z.string().optional(),
  HTTPS_PROXY: z.string().optional(),
  no_proxy: z.string().optional(),
  NO_PROXY: z.string().optional(),
  XDG_CACHE_HOME: z.string().min(1).optional(),
  XDG_STATE_HOME: z.string().min(1).optional(),
  HOME: z.string().min(1).optional(),
  PATH: z.string().optional(),
  DISPLAY: z.string().optional(),
  WAYLAND_DISPLAY: z.string().optional(),
  NO_COLOR: z.string().optional(),
});

/** Environment settings, read once at process start. Names: docs/configuration.md. */
export type Config = z.infer<typeof environment>;

/** Thrown for an unusable environment variable; the message names variable and value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError' as const;
}

/**
 * Names with our prefix that other code reads: lists and hooks, `sandbox exec`, docker-compose.yml, tests, and Kubernetes or Docker for a
 * service named `carillon` or `svc`.
 */
const otherNames = /^CARILLON_(URL_\w+|SANDBOX_URL|DB_PASSWORD|CHROMIUM|REQUIRE_\w+)$|_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)$/;

/** Empty variables count as unset. Throws ConfigError, also for an unknown name with our prefix. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const set = nonEmpty(env);
  const parsed = environment.safeParse(set);
  const known = Object.keys(environment.shape);
  const faults = Object.keys(set)
    .filter((name) => /^(CARILLON|SVC)_/.test(name) && !known.includes(name) && !otherNames.test(name))
    .map((name) => `${name} is no setting.${didYouMean(name, known, (near) => near)}`);
  // Not shown: it may contain a password.
  if (set['DATABASE_URL'] === undefined && /^[a-z][a-z\d+.-]*:\/\//i.test(set['CARILLON_DB'] ?? ''))
    faults.push('CARILLON_DB is an address, and it must be the path of a SQLite file. Write the address of PostgreSQL into DATABASE_URL.');
  if (parsed.success && faults.length === 0) return parsed.data;
  if (!parsed.success) faults.push(z.prettifyError(parsed.error));
  throw new ConfigError(`The environment has a setting that cannot be used:\n${faults.join('\n')}`);
}

/**
 * Throws ConfigError when DATABASE_URL is no valid PostgreSQL address, without its value: it may contain a password. Not in `readConfig`,
 * so that `doctor` can report it beside other faults.
 */
export function requireDatabaseAddress({ DATABASE_URL: url }: Pick<Config, 'DATABASE_URL'>): void {
  const address = url === undefined ? null : readPostgresAddress(url);
  if (address === null || !('fault' in address)) return;
  throw new ConfigError(`DATABASE_URL ${address.fault} Unset it to use the SQLite file of CARILLON_DB.`);
}

/** `readConfig` with `defaults` below the environment and `fixed` above it (undefined unsets). */
export function readConfigWith(
  values: { defaults?: NodeJS.ProcessEnv; fixed?: NodeJS.ProcessEnv },
  env: NodeJS.ProcessEnv = process.env,
): Config {
  return readConfig({ ...values.defaults, ...nonEmpty(env), ...values.fixed });
}

function nonEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

/** Reads only the proxies of the environment, without validating other settings. */
export function environmentProxies(env: NodeJS.ProcessEnv = process.env): Proxies {
  return readProxies(nonEmpty(env));
}

const proxyNames = { http: ['http_proxy', 'HTTP_PROXY'], https: ['https_proxy', 'HTTPS_PROXY'] } as const;

/** Lower-case names win over upper-case ones; the `http:` proxy also serves `https:` if that has none. */
export function readProxies(config: Partial<Config>): Proxies {
  const read = (names: (typeof proxyNames)['http' | 'https']): ProxyVariable | null => {
    const [found] = names.flatMap((name) => {
      const value = config[name];
      return value === undefined ? [] : [{ name, value }];
    });
    return found ?? null;
  };
  const http = read(proxyNames.http);
  return { http, https: read(proxyNames.https) ?? http, except: config.no_proxy ?? config.NO_PROXY ?? '' };
}

/** Service connection settings; the key is passed separately. */
export function serviceSettings(config: Config) {
  return {
    baseUrl: config.SVC_BASE_URL,
    api: config.SVC_API,
    keyHeader: keyHeaders[config.SVC_API],
    timeouts: {
      connectMs: config.SVC_CONNECT_TIMEOUT_MS,
      headersMs: config.SVC_HEADERS_TIMEOUT_MS,
      bodyMs: config.SVC_BODY_TIMEOUT_MS,
    },
    readsPerSecond: config.SVC_READS_PER_SECOND,
    proxies: readProxies(config),
  };
}

/** A variable named in a campaign file or schedule; empty counts as unset. */
export function readVariable(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}

/** Credentials that no child process needs. */
const secretVariables = [
  'SVC_API_KEY',
  'SVC_WEBHOOK_SECRET',
  'DATABASE_URL',
  'CARILLON_HOOK_SECRET',
  'CARILLON_SANDBOX_TOKEN',
  'LIVEKIT_API_SECRET',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
];

/** Environment for a user's own command: complete, plus `changes`. */
export function commandEnvironment(changes: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes };
}

/** Environment for a child process: without secrets, plus `changes` (undefined removes). */
export function childEnvironment(changes: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([key]) => !secretVariables.includes(key) && !key.startsWith('CARILLON_URL_'));
  return Object.fromEntries([...inherited, ...Object.entries(changes)].filter(([, value]) => value !== undefined));
}
