import { isLoopback, type ServiceOf, type ServiceApi } from '../../rules/service-api.ts';
import { ServiceOptionsError } from './errors.ts';

/** The parts of a service address that `parseBaseUrl` accepted. */
export interface BaseUrl {
  /** Scheme, host and port. */
  origin: string;
  /** Path prefix without a trailing slash; may be empty. */
  prefix: string;
}

/**
 * Plain `http` would expose the key, so it needs a loopback host or `allowInsecure`. Throws ServiceOptionsError, which quotes the value
 * only when it cannot hold credentials.
 */
export function parseBaseUrl(value: string, allowInsecure: boolean): BaseUrl {
  if (!URL.canParse(value)) {
    throw new ServiceOptionsError('The base URL of the service is not a URL. Give one such as https://host.example/prefix.');
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    throw new ServiceOptionsError('The base URL of the service holds a user name or password. Remove it; the key is given apart.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ServiceOptionsError('The base URL of the service has a query or fragment. End it after the path.');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ServiceOptionsError(`The base URL ${url.href} must begin with https:// or http://.`);
  }
  if (url.protocol === 'http:' && !allowInsecure && !isLoopback(url)) {
    throw new ServiceOptionsError(
      `The base URL ${url.href} would send the API key unencrypted. Use https://, or allow it where the network is trusted.`,
    );
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

/** The service of the settings, as campaigns store it. Throws ServiceOptionsError. */
export function serviceOf({ SVC_BASE_URL: url, SVC_API: api }: { SVC_BASE_URL: string; SVC_API: ServiceApi }): ServiceOf {
  return { accountId: serviceAddress(url), api };
}

/** The address in the normal form that campaigns store. Throws ServiceOptionsError. */
export function serviceAddress(value: string): string {
  const { origin, prefix } = parseBaseUrl(value, true);
  return `${origin}${prefix}`;
}
