import { createConvaiClient, type ConvaiClientOptions } from './convai/client.ts';
import { contractService } from './convai/contract-service.ts';
import type { CallService } from './port/call-service.ts';

export { readServiceClock } from './convai/read-clock.ts';

/** Address, key and limits of a service. */
export type ConnectOptions = ConvaiClientOptions;

/** The way to the service at an address; close it. Throws ServiceOptionsError. The one place that knows which services there are. */
export function connectService(options: ConnectOptions): CallService {
  return contractService(createConvaiClient(options));
}
