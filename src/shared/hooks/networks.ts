import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { HookError } from './errors.ts';

export type Resolve = (name: string) => Promise<LookupAddress[]>;
const resolveAll: Resolve = (name) => lookup(name, { all: true });

/** IPv4 ranges outside the internet: private, shared, link-local including cloud metadata, reserved; the last one is Azure's. */
const closed4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24',
  '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3', '168.63.129.16/32',
]; // prettier-ignore
/** Reserved or IPv4-embedding parts of 2000::/3, the only IPv6 internet range. */
const closed6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const widths = { ipv4: 32, ipv6: 128 } as const;
const [closed, open] = [listOf([...closed4, ...closed6]), listOf(['2000::/3'])];

/** Parses `127.0.0.1, 10.2.0.0/16, fd00::/8`. Null: an entry is invalid. */
export function readNetworks(text: string): BlockList | null {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every(isNetwork) ? listOf(parts) : null;
}

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  return isIP(address) !== 0 && (bits === undefined || Number(bits) <= widths[familyOf(address)]);
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits ?? widths[familyOf(address)]), familyOf(address));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** True for internet addresses and those in `allowed`. */
export function mayReach(address: string, allowed: BlockList | undefined): boolean {
  const family = familyOf(address);
  if (allowed?.check(address, family) === true) return true;
  return !closed.check(address, family) && (family === 'ipv4' || open.check(address, family));
}

/** DNS lookup that yields only permitted addresses, so a later DNS change cannot redirect the connection; else HookError. */
export function lookupWithin(allowed: BlockList | undefined, resolve = resolveAll): LookupFunction {
  return (name, { all }, done) => {
    resolve(name).then(
      (found) => {
        const [first, ...others] = found.filter(({ address }) => mayReach(address, allowed));
        if (first === undefined) done(refusedAddress(), '', 0);
        else if (all === true) done(null, [first, ...others]);
        else done(null, first.address, first.family);
      },
      (error: unknown) => done(error as NodeJS.ErrnoException, '', 0),
    );
  };
}

/** Throws HookError when the address, or every current address of the name, is forbidden. */
export async function refuseClosed(url: URL, allowed: BlockList | undefined, resolve = resolveAll): Promise<void> {
  refuseWritten(url, allowed);
  // A name unknown here may resolve at the workers.
  const found = await resolve(url.hostname).catch(() => null);
  if (found?.some(({ address }) => mayReach(address, allowed)) === false) throw refusedAddress();
}

/**
 * Resolves a name for the proxy, which might resolve it to an internal address. Throws HookError when any address is forbidden, or none is
 * found here.
 */
export async function resolveCheckedAddress(name: string, allowed: BlockList | undefined, resolve = resolveAll): Promise<string> {
  const found = await resolve(name).catch((): LookupAddress[] => []);
  const address = (found.find(({ family }) => family === 4) ?? found[0])?.address;
  if (address === undefined)
    throw new HookError('no_connection', 'its name has no address here, and through a proxy it is judged by that: name it to this machine');
  if (!found.every((one) => mayReach(one.address, allowed))) throw refusedAddress();
  return address;
}

/** As `refuseClosed`, for a literal IP address, which is never looked up. */
export function refuseWritten({ hostname }: URL, allowed: BlockList | undefined): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayReach(host, allowed)) throw refusedAddress();
}

function refusedAddress(): HookError {
  return new HookError(
    'address_refused',
    'its address is one of this machine, of a private network or of none, and CARILLON_HOOK_NETWORKS does not allow it',
  );
}
