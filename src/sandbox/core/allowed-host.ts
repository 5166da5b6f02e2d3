import { isIP } from 'node:net';

/** Where the sandbox may connect to by itself: webhooks, agents' own models and their tools. */
export interface Outbound {
  /** Beside this machine: `name` or `name:port`, in small letters. */
  readonly hosts: readonly string[];
  /** Where the sandbox itself listens; null until it does. */
  ownPort: number | null;
}

type OutboundRefusal = 'unreadable' | 'protocol' | 'user' | 'itself' | 'foreign';

/**
 * Why the sandbox does not connect to an address; null when it does: to this machine, or to a host that was allowed in as many words, but
 * not to itself. Whoever may write an agent or a webhook would reach its controls by that, past their token and the checks of where a
 * request comes from.
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

/** Whether a name, as it stands in an address or in a `Host` header, is that of this machine alone. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return name === 'localhost' || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Whether only this machine reaches an address that is listened on, such as `::1`, which has no brackets there. */
export function isLoopbackAddress(host: string): boolean {
  return isLoopback(host.includes(':') ? `[${host}]` : host);
}

/** The address at which this machine reaches what listens there: an unspecified one (`0.0.0.0`, `::`) is none to connect to. */
export function addressOf(host: string, port: number): string {
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * Whether a `Host` header, without its port, may stand for what listens on `host`. On a loopback address: its own names alone. Elsewhere
 * also `host` itself and whatever no site of another can be called: an IP address, a name without a dot (as in a network of containers),
 * and names under `.internal`, which the public DNS never has.
 */
export function mayBeCalled(name: string, host: string): boolean {
  if (isLoopback(name)) return true;
  if (isLoopbackAddress(host)) return false;
  const called = name.toLowerCase();
  const isAddress = isIP(called.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return isAddress || called === host.toLowerCase() || /^[\w-]+$/.test(called) || /^[\w.-]+\.internal$/.test(called);
}
