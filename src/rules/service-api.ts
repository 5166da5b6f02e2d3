/** Service APIs that can place calls: the contract's, and two of the published API. A campaign keeps the one it was started with. */
export const serviceApis = ['contract', 'batch-calling', 'campaigns'] as const;
/** One of `serviceApis`, as named in `SVC_API`. */
export type ServiceApi = (typeof serviceApis)[number];

/** Header of the key in each API. */
export const keyHeaders: Readonly<Record<ServiceApi, string>> = {
  contract: 'x-api-key',
  'batch-calling': 'xi-api-key',
  campaigns: 'xi-api-key',
};

/** Whether the API shows for certain, by a request's key, if it was carried out. */
export function knowsKeys(api: ServiceApi): boolean {
  return api === 'campaigns';
}

/** Whether the API reports each recipient's call under our reference. */
export function reportsRecipients(api: ServiceApi): boolean {
  return api !== 'contract';
}

/** What a pause does to calls queued at the service. */
export const queuedHandlings = ['taken_back', 'left_to_ring', 'never_taken_back'] as const;
/** One way to handle queued calls. */
export type QueuedHandling = (typeof queuedHandlings)[number];

/** What happens to a paused campaign's queued calls; `letQueued`: the operator left them to ring. */
export function handlingOfQueued({ api, letQueued }: { api: ServiceApi; letQueued: boolean }): QueuedHandling {
  if (!reportsRecipients(api)) return 'never_taken_back';
  return letQueued ? 'left_to_ring' : 'taken_back';
}

const namesOfThisMachine: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether two addresses name the same service: this machine's names are equal, and a trailing slash is ignored. */
export function isSameService(one: string, other: string): boolean {
  return one === other || plainName(one) === plainName(other);
}

function plainName(address: string): string {
  if (!URL.canParse(address)) return address;
  const { protocol, hostname, port, pathname } = new URL(address);
  const host = namesOfThisMachine.includes(hostname) ? 'localhost' : hostname;
  return `${protocol}//${host}:${port}${pathname.replace(/\/+$/, '')}`;
}

/** A campaign's service: its address and API. */
export interface ServiceOf {
  accountId: string;
  api: ServiceApi;
}

/** Whether a campaign's calls belong to this service and API. */
export function isOwnService(campaign: ServiceOf, own: ServiceOf): boolean {
  return campaign.api === own.api && isSameService(campaign.accountId, own.accountId);
}

/** Why nothing may be done here for a campaign of another service: by the clock and records of `own`, its calls would seem never placed. */
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

/** Whether an address is this machine's: 127.0.0.0/8, ::1, IPv4-mapped loopback, and localhost with its subdomains. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(hostname);
}
