import { keyHeaders, type ServiceApi } from '../rules/service-api.ts';
import { openConnection } from './convai/connection.ts';
import { root } from './http/paths.ts';
import { RefusedError, ServiceError } from './port/errors.ts';
import type { ConnectOptions } from './registry.ts';

/** Whether a service has an interface: its operations are there, the key is refused in its header, or may not do that. */
export type Probe = 'answers' | 'key_refused' | 'not_permitted' | 'not_there' | 'unclear';

/**
 * Asks for each interface by an operation that calls nobody: a page of its list, or, for the contract, which has none, a request to dial
 * without agent, caller and recipients. Throws ServiceOptionsError.
 */
export async function probeService({ api: _api, ...options }: ConnectOptions): Promise<Record<ServiceApi, Probe>> {
  const [contract, batchCalling, campaigns] = await Promise.all([
    probe(options, 'contract', 'POST', '/phone-numbers/batch-calls'),
    probe(options, 'batch-calling', 'GET', '/batch-calling/workspace'),
    probe(options, 'campaigns', 'GET', '/outbound-campaigns/campaigns'),
  ]);
  return { contract, 'batch-calling': batchCalling, campaigns };
}

async function probe(options: Omit<ConnectOptions, 'api'>, api: ServiceApi, method: 'GET' | 'POST', below: string): Promise<Probe> {
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
