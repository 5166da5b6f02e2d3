import { refuseHost, type Outbound } from '../core/allowed-host.ts';

/** They belong to the connection or to the body that is sent, so nobody else may set them. */
const ownHeaders = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Lower-case names; those that the request itself sets are left out. */
export function sendableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(named.filter(([name]) => !ownHeaders.has(name)));
}

const shortestSecret = 8;

/** Takes the values of `headers` out of a text in which an answer may echo them, with or without a scheme such as Bearer. */
export function redactSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  let clean = text;
  for (const value of Object.values(headers)) {
    for (const secret of [value, ...value.split(/\s+/).slice(1)]) {
      if (secret.length >= shortestSecret) clean = clean.replaceAll(secret, '[redacted]');
    }
  }
  return clean;
}

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
  throw new ModelFailure('failed', messages[refusal]);
}

/** The address as it may be shown: values in its query may be credentials. */
export function showAddress(url: string): string {
  if (!URL.canParse(url)) return '[unreadable]';
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...new Set(searchParams.keys())].map((name) => `${encodeURIComponent(name)}=[redacted]`);
  return `${origin}${pathname}${names.length === 0 ? '' : `?${names.join('&')}`}`;
}

export type ModelFailureCode = 'failed' | 'timeout' | 'stopped';

/** Thrown when a model gave nothing that an agent could say. Holds nothing that the model said: it may echo a credential. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure' as const;
  readonly code: ModelFailureCode;

  constructor(code: ModelFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
