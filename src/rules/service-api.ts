/**
 * The interfaces of services that calls can be placed through: the contract's, and the two of the published API. A campaign keeps the one
 * that it was started with.
 */
export const serviceApis = ['contract', 'batch-calling', 'campaigns'] as const;
/** One of them, as `SVC_API` names it. */
export type ServiceApi = (typeof serviceApis)[number];

/** The header in which each takes the key. */
export const keyHeaders: Readonly<Record<ServiceApi, string>> = {
  contract: 'x-api-key',
  'batch-calling': 'xi-api-key',
  campaigns: 'xi-api-key',
};

/** Whether a service that is asked so tells for certain, by a request's key, whether it was carried out. */
export function knowsKeys(api: ServiceApi): boolean {
  return api === 'campaigns';
}

/** Whether a service that is asked so says itself what became of the call to each recipient, under our own name for it. */
export function reportsRecipients(api: ServiceApi): boolean {
  return api !== 'contract';
}
