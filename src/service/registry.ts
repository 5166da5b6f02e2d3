import { keyHeaders, type ServiceApi } from '../rules/service-api.ts';
import { batchCallingService } from './batch-calling/service.ts';
import { campaignsService } from './campaigns/service.ts';
import { clientOver } from './convai/client.ts';
import { openConnection, type ConvaiClientOptions } from './convai/connection.ts';
import { contractService } from './convai/contract-service.ts';
import { readsOf } from './convai/reads.ts';
import type { CallService } from './port/call-service.ts';

export { readServiceClock } from './convai/read-clock.ts';
export { readServiceRecord } from './convai/record-facts.ts';

/** Address, key, limits and interface (`api`, default the contract's) of a service. */
export interface ConnectOptions extends ConvaiClientOptions {
  api?: ServiceApi;
}

/** The way to the service at an address; close it. Throws ServiceOptionsError. The one place that knows which services there are. */
export function connectService({ api = 'contract', ...options }: ConnectOptions): CallService {
  const transport = openConnection({ keyHeader: keyHeaders[api], ...options });
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
