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
  const refusal = refuseHost(url, outbound);
  if (refusal === null) return;
  const host = refusal === 'unreadable' ? '' : new URL(url).host;
  const messages = {
    unreadable: 'the address cannot be read; give one such as http://127.0.0.1:8080/v1',
    protocol: 'the address must begin with http:// or https://',
    user: 'the address must hold no user name or password; send credentials in a header',
    itself: `the sandbox does not connect to itself (${host})`,
    foreign: `the sandbox does not connect to ${host}: only to this machine, or to a host that allowOutbound (--allow-outbound) names`,
  };
  throw new ModelFailure('address_refused', messages[refusal]);
}

/** The address as it may be shown: values in its query may be credentials. */
export function showAddress(url: string): string {
  if (!URL.canParse(url)) return '[unreadable]';
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...new Set(searchParams.keys())].map((name) => `${encodeURIComponent(name)}=[redacted]`);
  return `${origin}${pathname}${names.length === 0 ? '' : `?${names.join('&')}`}`;
}
