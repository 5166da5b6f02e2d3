import { keyHeaders, serviceApis, type ServiceApi } from '../rules/service-api.ts';
import { openConnection } from './convai/connection.ts';
import { root } from './http/paths.ts';
import { RefusedError, ServiceError } from './port/errors.ts';
import type { ConnectOptions } from './registry.ts';

/** Whether a service has an interface: its operations are there, the key is refused in its header, or may not do that. */
export type Probe = 'answers' | 'key_refused' | 'not_permitted' | 'not_there' | 'unclear';

const harmless = {
  contract: ['POST', '/phone-numbers/batch-calls'],
  'batch-calling': ['GET', '/batch-calling/workspace'],
  campaigns: ['GET', '/outbound-campaigns/campaigns'],
} as const satisfies Record<ServiceApi, readonly ['GET' | 'POST', string]>;

/**
 * Asks for each interface by an operation that calls nobody: a page of its list, or, for the contract, which has none, a request to dial
 * without agent, caller and recipients. Throws ServiceOptionsError.
 */
export async function probeService({ api: _api, ...options }: ConnectOptions): Promise<Record<ServiceApi, Probe>> {
  const probes = serviceApis.map(async (api) => [api, await probe(options, api)] as const);
  return Object.fromEntries(await Promise.all(probes)) as Record<ServiceApi, Probe>;
}

async function probe(options: Omit<ConnectOptions, 'api'>, api: ServiceApi): Promise<Probe> {
  const [method, below] = harmless[api];
  const transport = openConnection({ ...options, keyHeader: keyHeaders[api] });
  try {
    if (method === 'GET') await transport.read(root + below);
    else await transport.write({ method, path: root + below, body: Buffer.from('{}'), dials: true });
    // A request that names nobody and is taken all the same tells nothing.
    return method === 'GET' ? 'answers' : 'unclear';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error instanceof RefusedError ? readRefusal(error.status) : 'unclear';
  } finally {
    await transport.close();
  }
}

function readRefusal(status: number): Probe {
  if (status === 401) return 'key_refused';
  if (status === 403) return 'not_permitted';
  if (status === 404 || status === 405) return 'not_there';
  return status === 400 || status === 422 ? 'answers' : 'unclear';
}
