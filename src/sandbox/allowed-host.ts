import { isIP } from 'node:net';

/** Where the sandbox may connect to by itself: webhooks, agents' own models and their tools. */
export interface Outbound {
  /** Beside this machine: `name` or `name:port`, in small letters. */
  readonly hosts: readonly string[];
  /** Where the sandbox itself listens; null until it does. */
  ownPort: number | null;
}

/** Why the sandbox does not connect there; null when it does. */
export type OutboundRefusal = 'foreign' | 'itself' | null;

/**
 * Whether the sandbox may connect there: to this machine, or to a host that was allowed in as many words, but not to itself. Whoever may
 * write an agent or a webhook would reach its controls by that, past their token and the checks of where a request comes from.
 */
export function refuseHost({ protocol, hostname, host, port }: URL, { hosts, ownPort }: Outbound): OutboundRefusal {
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
