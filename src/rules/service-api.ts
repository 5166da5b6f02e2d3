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

const namesOfThisMachine: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether two addresses name the same service: this machine's names are one, and a slash at the end means nothing. */
export function isSameService(one: string, other: string): boolean {
  return one === other || plainName(one) === plainName(other);
}

function plainName(address: string): string {
  if (!URL.canParse(address)) return address;
  const { protocol, hostname, port, pathname } = new URL(address);
  const host = namesOfThisMachine.includes(hostname) ? 'localhost' : hostname;
  return `${protocol}//${host}:${port}${pathname.replace(/\/+$/, '')}`;
}

/** A service as campaigns keep it: its address, and the API by which it is asked for calls. */
export interface ServiceOf {
  accountId: string;
  api: ServiceApi;
}

/** Whether a campaign's calls are those of this service, and told by it in the same way. */
export function isOwnService(campaign: ServiceOf, own: ServiceOf): boolean {
  return campaign.api === own.api && isSameService(campaign.accountId, own.accountId);
}

/**
 * Why nothing may be done here for a campaign of another service, and what to do. `own`: the service here. Its clock and its
 * records know nothing of the campaign's calls: they would all look as if they had never been placed.
 */
export function otherServiceText(campaign: ServiceOf & { campaignId: string }, own: ServiceOf): string {
  const { campaignId, accountId, api } = campaign;
  const address = own.accountId;
  if (isSameService(accountId, address))
    return `Campaign ${campaignId} was started with SVC_API=${api}, and SVC_API here is ${own.api}: nothing is done for it here. Set SVC_API=${api}`;
  return (
    `Campaign ${campaignId} was started against the service at ${accountId}, and SVC_BASE_URL here is ${address}: nothing is done for it here. ` +
    'Set SVC_BASE_URL to its service, or, if that has moved with its calls and records, move its campaigns to the new address'
  );
}

/** Whether an address is this machine's own: 127.0.0.0/8, ::1, the one written as the other, and localhost with names below it. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(hostname);
}
