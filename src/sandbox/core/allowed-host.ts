import { isIP } from 'node:net';

/** Destinations of webhooks, agents' own models and their tools. */
export interface Outbound {
  /** Hosts besides this machine, lower case: `name` or `name:port`. */
  readonly hosts: readonly string[];
  /** The sandbox's own port; null until it listens. */
  ownPort: number | null;
}

type OutboundRefusal = 'unreadable' | 'protocol' | 'user' | 'itself' | 'foreign';

/**
 * Null for this machine or an allowed host, never for the sandbox itself: otherwise the author of an agent or webhook could reach the
 * controls past token and origin checks.
 */
export function refuseHost(address: string, { hosts, ownPort }: Outbound): OutboundRefusal | null {
  if (!URL.canParse(address)) return 'unreadable';
  const { protocol, username, password, hostname, host, port } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return 'protocol';
  if (username !== '' || password !== '') return 'user';
  const loopback = isLoopback(hostname);
  const effectivePort = Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port);
  if (loopback && effectivePort === ownPort) return 'itself';
  return loopback || hosts.includes(hostname) || hosts.includes(host) ? null : 'foreign';
}

/** The name means this machine only. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return name === 'localhost' || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Only this machine reaches this listening address; `::1` has no brackets here. */
export function isLoopbackAddress(host: string): boolean {
  return isLoopback(host.includes(':') ? `[${host}]` : host);
}

/** Unspecified addresses (`0.0.0.0`, `::`) cannot be connected to. */
export function addressOf(host: string, port: number): string {
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * Whether a `Host` header (without port) may name a listener on `host`. Loopback: its own names. Elsewhere also `host`, IPs, dotless names
 * (container networks) and `.internal`, which no foreign site can have.
 */
export function mayBeCalled(name: string, host: string): boolean {
  if (isLoopback(name)) return true;
  if (isLoopbackAddress(host)) return false;
  const called = name.toLowerCase();
  const isAddress = isIP(called.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return isAddress || called === host.toLowerCase() || /^[\w-]+$/.test(called) || /^[\w.-]+\.internal$/.test(called);
}
