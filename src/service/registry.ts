import { keyHeaders, type ServiceApi } from '../rules/service-api.ts';
import { batchCallingService } from './batch-calling/service.ts';
import { batchTrial } from './batch-calling/trial.ts';
import { campaignsService } from './campaigns/service.ts';
import { campaignTrial } from './campaigns/trial.ts';
import { clientOver } from './convai/client.ts';
import { openConnection, type ConvaiClientOptions } from './convai/connection.ts';
import { contractService } from './convai/contract-service.ts';
import { readsOf } from './convai/reads.ts';
import type { Transport } from './http/transport.ts';
import type { CallService } from './port/call-service.ts';
import type { LookUpTrial, TrialCall } from './port/lookup-trial.ts';

export { readServiceClock } from './convai/read-clock.ts';
export { readServiceRecord } from './convai/record-facts.ts';

/** Address, key, limits and interface (`api`, default the contract's) of a service. */
export interface ConnectOptions extends ConvaiClientOptions {
  api?: ServiceApi;
}

/** A trial of the look-up over an interface that has one; close it. Throws ServiceOptionsError. */
export function openTrial(
  { api, ...options }: ConnectOptions & { api: Exclude<ServiceApi, 'contract'> },
  call: TrialCall,
): { trial: LookUpTrial; close: () => Promise<void> } {
  const transport = openConnection({ keyHeader: keyHeaders[api], ...options });
  const make = api === 'campaigns' ? campaignTrial : batchTrial;
  return { trial: make(transport, readsOf(clientOver(transport)), call), close: () => transport.close() };
}

/** The way to the service at an address; close it. Throws ServiceOptionsError. */
export function connectService({ api = 'contract', ...options }: ConnectOptions): CallService {
  return serviceOver(openConnection({ keyHeader: keyHeaders[api], ...options }), api);
}

/** The same over a connection that is open. The one place that knows which services there are. */
export function serviceOver(transport: Transport, api: ServiceApi): CallService {
  const client = clientOver(transport);
  switch (api) {
    case 'contract':
      return contractService(client);
    case 'batch-calling':
      return batchCallingService(transport, readsOf(client, true));
    case 'campaigns':
      return campaignsService(transport, readsOf(client, true));
  }
}
