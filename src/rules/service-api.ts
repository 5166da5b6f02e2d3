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

/** What a pause does to calls that wait at the service. */
export const queuedFates = ['taken_back', 'left_to_ring', 'never_taken_back'] as const;
/** One of them. */
export type QueuedFate = (typeof queuedFates)[number];

/** What becomes of the calls of a paused campaign that wait at its service; `letQueued`: whoever paused it left them to ring. */
export function fateOfQueued({ api, letQueued }: { api: ServiceApi; letQueued: boolean }): QueuedFate {
  if (!reportsRecipients(api)) return 'never_taken_back';
  return letQueued ? 'left_to_ring' : 'taken_back';
}
