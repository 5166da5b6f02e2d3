import { refuseHost, type Outbound } from '../core/allowed-host.ts';
import { ModelFailure } from './model-failure.ts';

const completionsPath = '/chat/completions';

/** The address to post to: `url` may be the base or the whole of it; the path is there once, a query stays. */
export function completionsAddress(url: string): string {
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, '');
  address.pathname = path.endsWith(completionsPath) ? path : path + completionsPath;
  address.hash = '';
  return address.href;
}

/** Throws `ModelFailure` unless the address is on this machine or on a host that was allowed in as many words. */
export function requireAllowed(url: string, outbound: Outbound): void {
  const refuse = (message: string): ModelFailure => new ModelFailure('address_refused', message);
  if (!URL.canParse(url)) throw refuse('the address cannot be read; give one such as http://127.0.0.1:8080/v1');
  const address = new URL(url);
  const { protocol, host, username, password } = address;
  if (protocol !== 'http:' && protocol !== 'https:') throw refuse('the address must begin with http:// or https://');
  if (username !== '' || password !== '')
    throw refuse('the address must hold no user name or password; send credentials in a header');
  const refusal = refuseHost(address, outbound);
  if (refusal === null) return;
  if (refusal === 'itself') throw refuse(`the sandbox does not connect to itself (${host})`);
  throw refuse(
    `the sandbox does not connect to ${host}: only to this machine, or to a host that allowOutbound (--allow-outbound) names`,
  );
}

/** The address as it may be shown: values in its query may be credentials. */
export function showAddress(url: string): string {
  if (!URL.canParse(url)) return '[unreadable]';
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...new Set(searchParams.keys())].map((name) => `${encodeURIComponent(name)}=[redacted]`);
  return `${origin}${pathname}${names.length === 0 ? '' : `?${names.join('&')}`}`;
}
