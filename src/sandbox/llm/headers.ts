import { validateHeaderName, validateHeaderValue } from 'node:http';
import { ModelFailure } from './model-failure.ts';

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

/** Lower-case names; those that the request itself sets are left out. Throws `ModelFailure`, naming the header but never its value. */
export function sendableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sendable: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new ModelFailure('header_refused', `the header ${JSON.stringify(name)} of extra_headers cannot be sent`);
    }
    if (!ownHeaders.has(name.toLowerCase())) sendable[name.toLowerCase()] = value;
  }
  return sendable;
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
