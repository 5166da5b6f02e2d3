import { keyHeaders, serviceApis, type ServiceApi } from '../rules/service-api.ts';
import { clientOver } from './convai/client.ts';
import { openConnection, type ConvaiClientOptions } from './convai/connection.ts';
import { contractService } from './convai/contract-service.ts';
import { readsOf } from './convai/reads.ts';
import { root } from './http/paths.ts';
import type { Transport } from './http/transport.ts';
import type { CallService } from './port/call-service.ts';
import type { LookUpTrial, TrialCall } from './port/lookup-trial.ts';
import { RefusedError, ServiceError } from './port/errors.ts';
import { batchCalling } from './published/batch-calling.ts';
import { campaigns } from './published/campaigns.ts';
import type { PublishedApi } from './published/parts.ts';

export { readServiceClock } from './convai/read-clock.ts';
export { readServiceRecord } from './convai/record-facts.ts';

/** Address, key, limits and interface (`api`, default the contract's) of a service. */
export interface ConnectOptions extends ConvaiClientOptions {
  api?: ServiceApi;
}

/** The interfaces of the published API. */
const published: Readonly<Record<Exclude<ServiceApi, 'contract'>, PublishedApi>> = { 'batch-calling': batchCalling, campaigns };

/** A trial of the look-up over an interface that has one; close it. Throws ServiceOptionsError. */
export function openTrial(
  { api, ...options }: ConnectOptions & { api: Exclude<ServiceApi, 'contract'> },
  call: TrialCall,
): { trial: LookUpTrial; close: () => Promise<void> } {
  const transport = openConnection({ keyHeader: keyHeaders[api], ...options });
  return { trial: published[api].trial(transport, readsOf(clientOver(transport)), call), close: () => transport.close() };
}

/** The way to the service at an address; close it. Throws ServiceOptionsError. */
export function connectService({ api = 'contract', ...options }: ConnectOptions): CallService {
  return serviceOver(openConnection({ keyHeader: keyHeaders[api], ...options }), api);
}

/** The same over a connection that is open. */
export function serviceOver(transport: Transport, api: ServiceApi): CallService {
  const client = clientOver(transport);
  return api === 'contract' ? contractService(client) : published[api].service(transport, readsOf(client, true));
}

/** Whether a service has an interface: its operations are there, the key is refused in its header, or may not do that. */
export type Probe = 'answers' | 'key_refused' | 'not_permitted' | 'not_there' | 'unclear';

/**
 * Asks for each interface by an operation that calls nobody: a page of its list, or, for the contract, which has none, a request to dial
 * without agent, caller and recipients. Throws ServiceOptionsError.
 */
export async function probeService({ api: _api, ...options }: ConnectOptions): Promise<Record<ServiceApi, Probe>> {
  const probes = serviceApis.map(async (api) => [api, await probe(options, api)] as const);
  return Object.fromEntries(await Promise.all(probes)) as Record<ServiceApi, Probe>;
}

async function probe(options: Omit<ConnectOptions, 'api'>, api: ServiceApi): Promise<Probe> {
  const transport = openConnection({ ...options, keyHeader: keyHeaders[api] });
  try {
    if (api !== 'contract') {
      await transport.read(published[api].listPath);
      return 'answers';
    }
    await transport.write({ method: 'POST', path: `${root}/phone-numbers/batch-calls`, body: Buffer.from('{}'), dials: true });
    // A request that names nobody and is taken all the same tells nothing.
    return 'unclear';
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
