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

/** Address, key, limits and interface of a service; default `api`: the contract's. */
export interface ConnectOptions extends ConvaiClientOptions {
  api?: ServiceApi;
}

const published: Readonly<Record<Exclude<ServiceApi, 'contract'>, PublishedApi>> = { 'batch-calling': batchCalling, campaigns };

/** Opens a look-up trial over an interface that has one; close it. Throws ServiceOptionsError. */
export function openTrial(
  { api, ...options }: ConnectOptions & { api: Exclude<ServiceApi, 'contract'> },
  call: TrialCall,
): { trial: LookUpTrial; close: () => Promise<void> } {
  const transport = openConnection({ keyHeader: keyHeaders[api], ...options });
  return { trial: published[api].trial(transport, readsOf(clientOver(transport)), call), close: () => transport.close() };
}

/** Connects to a service; close it. Throws ServiceOptionsError. */
export function connectService({ api = 'contract', ...options }: ConnectOptions): CallService {
  return serviceOver(openConnection({ keyHeader: keyHeaders[api], ...options }), api);
}

/** The same over an open connection. */
export function serviceOver(transport: Transport, api: ServiceApi): CallService {
  const client = clientOver(transport);
  return api === 'contract' ? contractService(client) : published[api].service(transport, readsOf(client, true));
}

/** Whether a service has an interface, and accepts and permits the key for it. */
export type Probe = 'answers' | 'key_refused' | 'not_permitted' | 'not_there' | 'unclear';

/**
 * Probes without a call: reads a page of a list or, for the contract, which has none, sends a dial request without agent, caller and
 * recipients. Throws ServiceOptionsError.
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
    // Accepting a request without recipients proves nothing.
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
