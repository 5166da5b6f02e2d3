import { isIP } from 'node:net';

/** Whether the sandbox may connect there: to this machine, or to a host (`name` or `name:port`) that was allowed in as many words. */
export function isAllowedHost({ hostname, host }: URL, allowedHosts: readonly string[]): boolean {
  return isLoopback(hostname) || allowedHosts.includes(hostname) || allowedHosts.includes(host);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}
