import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A proxy variable as set. Its value may contain a password. */
export interface ProxyVariable {
  name: string;
  value: string;
}

/** Proxies named by the environment (`readProxies` in src/shared/config.ts). */
export interface Proxies {
  http: ProxyVariable | null;
  https: ProxyVariable | null;
  /** Value of `NO_PROXY`. */
  except: string;
}

export const noProxies: Proxies = { http: null, https: null, except: '' };

export interface Proxy {
  url: URL;
  variable: string;
  /** Scheme, host and port: safe to show. */
  place: string;
  /** Null: none is sent. */
  login: { user: string; password: string } | null;
}

/** `protocol` with its colon, host without brackets. */
export interface Destination {
  protocol: string;
  hostname: string;
  port: number;
}

/** Local DNS lookup; rejects when the name has no address. */
export type FindAddresses = (name: string) => Promise<readonly { address: string }[]>;

/** Thrown when a proxy is unusable or opens no tunnel; nothing of the request was sent. Never shows user or password. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError' as const;
  /** `PROXY_407`, `PROXY_ECONNREFUSED`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = `PROXY_${code}`;
  }
}

/**
 * Proxy for a destination; null: direct. Loopback is always direct, under any name. Throws ProxyError when the proxy variable is unusable.
 */
export async function proxyFor(to: Destination, proxies: Proxies, find?: FindAddresses): Promise<Proxy | null> {
  const variable = to.protocol === 'https:' ? proxies.https : proxies.http;
  if (variable === null || isExcepted(to, proxies.except) || (await isHere(to.hostname, find))) return null;
  return readProxy(variable);
}

/** Parses a proxy variable. Throws ProxyError. */
export function readProxy({ name, value }: ProxyVariable): Proxy {
  const text = /^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  const login = url === null ? null : readLogin(url);
  if (url === null || login === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    throw new ProxyError(
      'UNUSABLE',
      `${name} cannot be used: write http://host:port or http://user:password@host:port, special characters as %40`,
    );
  return { url, variable: name, place: `${url.protocol}//${url.host}`, login };
}

function readLogin({ username, password }: URL): Proxy['login'] | undefined {
  if (username === '' && password === '') return null;
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
// Connecting to an unspecified address reaches this machine.
loopback.addAddress('0.0.0.0', 'ipv4');
loopback.addAddress('::', 'ipv6');

const isLoopbackAddress = (address: string): boolean => loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

const findSystem: FindAddresses = (name) => lookup(name, { all: true });
/** Local names resolve without network; behind a proxy others may never resolve. */
const findLimitMs = 2_000;
const rememberedMs = 60_000;
const remembered = new Map<string, { isLoopback: boolean; until: number }>();

async function isHere(hostname: string, find = findSystem): Promise<boolean> {
  const host = plainHost(hostname);
  if (isIP(host) !== 0) return isLoopbackAddress(host);
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  const known = find === findSystem ? remembered.get(host) : undefined;
  if (known !== undefined && performance.now() < known.until) return known.isLoopback;
  const limit = new AbortController();
  const found = await Promise.race([find(host).catch(() => []), delay(findLimitMs, [], { signal: limit.signal }).catch(() => [])]);
  limit.abort();
  const isLoopback = found.length > 0 && found.every(({ address }) => isLoopbackAddress(address));
  if (remembered.size >= 1_000) remembered.clear();
  if (find === findSystem) remembered.set(host, { isLoopback, until: performance.now() + rememberedMs });
  return isLoopback;
}

function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

/** `NO_PROXY` entries: `*`, a host, a domain with its subdomains, an address or range; each optionally with a port. */
function isExcepted({ hostname, port }: Destination, except: string): boolean {
  const host = plainHost(hostname);
  return except
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, named = entry, ofPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
      if (ofPort !== undefined && Number(ofPort) !== port) return false;
      const name = plainHost(named.replace(/^\*?\.(?=.)/, ''));
      return host === name || host.endsWith(`.${name}`) || isInRange(host, name);
    });
}

function isInRange(host: string, range: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  const width = isIP(address) === 6 ? 128 : 32;
  if (isIP(host) === 0 || isIP(address) === 0 || (bits !== '' && !(Number(bits) <= width))) return false;
  const list = new BlockList();
  list.addSubnet(address, bits === '' ? width : Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}
