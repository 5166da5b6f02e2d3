import { keyHeaders, type ServiceApi } from '../rules/service-api.ts';
import { clientOver } from './convai/client.ts';
import { openConnection, type ConvaiClientOptions } from './convai/connection.ts';
import { contractService } from './convai/contract-service.ts';
import { readsOf } from './convai/reads.ts';
import type { Transport } from './http/transport.ts';
import type { CallService, ServiceReads } from './port/call-service.ts';
import type { LookUpTrial, TrialCall } from './port/lookup-trial.ts';
import { batchCallingService, batchTrial } from './published/batch-calling.ts';
import { campaignsService, campaignTrial } from './published/campaigns.ts';

export { readServiceClock } from './convai/read-clock.ts';
export { readServiceRecord } from './convai/record-facts.ts';

/** Address, key, limits and interface (`api`, default the contract's) of a service. */
export interface ConnectOptions extends ConvaiClientOptions {
  api?: ServiceApi;
}

/** The interfaces of the published API. */
const published = {
  'batch-calling': { service: batchCallingService, trial: batchTrial },
  campaigns: { service: campaignsService, trial: campaignTrial },
} as const satisfies Record<
  Exclude<ServiceApi, 'contract'>,
  {
    service: (transport: Transport, reads: ServiceReads) => CallService;
    trial: (transport: Transport, reads: ServiceReads, call: TrialCall) => LookUpTrial;
  }
>;

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
