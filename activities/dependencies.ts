import type { BlockList } from 'node:net';
import type { CallService } from '../src/service/port/call-service.ts';
import type { ServiceApi } from '../src/rules/service-api.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import type { Logger } from '../src/shared/logger.ts';
import type { Proxies } from '../src/shared/network/proxies.ts';
import type { RequestNotes } from './request-notes.ts';
import type { SweepNews } from './sweep-news.ts';
import type { Store } from '../src/ledger/tx.ts';
import type { Sender } from '../src/shared/hooks/signed-post.ts';

export interface ActivityDependencies {
  store: Store;
  service: CallService;
  /** The service's address, also of campaigns imported here. */
  accountId: string;
  api: ServiceApi;
  /** The service's clock, refreshed from time to time. */
  serviceClock: () => Promise<ServiceClock>;
  logger: Logger;
  /** Signs requests to hooks. Default: none are sent, and campaigns with a pre-dial hook place no calls. */
  hookSecret?: string | undefined;
  /** Private networks where hooks and webhooks may be. Default: none. */
  hookNetworks?: BlockList | undefined;
  /** Proxies for hooks, webhooks and lists. Default: none. */
  proxies?: Proxies | undefined;
  /** Reads an environment variable named in a campaign file or schedule. */
  readVariable?: ((name: string) => string | undefined) | undefined;
  /** Epoch ms. */
  nowReal: () => number;
  /** Unaffected by changes of the wall clock. */
  monotonicMs: () => number;
  /** Names this process in leases. */
  workerId: string;
  /** Aborted when the process is to stop: long activities then end early. */
  stopping: AbortSignal;
  /** Notifies the collects of this process of each other's sweeps. */
  sweepNews: SweepNews;
  /** Called by each submit; its heartbeats go on until it is closed. */
  openRequestNotes: () => RequestNotes;
  limits: {
    /** How long after `posting` is committed the POST may still begin. */
    postingWindowMs: number;
    /** Gap between dialling requests of all processes with this database and account. */
    requestGapMs: number;
    httpTimeoutMs: number;
    collectMaxMs: number;
    heartbeatEveryMs: number;
    /** A process silent for this long loses its sweep to another. */
    leaseMs: number;
  };
}

export const messageTimeoutMs = 15_000;

export function senderOf(deps: ActivityDependencies): Sender & { timeoutMs: number } {
  const { readVariable = () => undefined, hookSecret: secret = null, hookNetworks: networks, proxies, nowReal, stopping, limits } = deps;
  return { readVariable, secret, networks, proxies, nowReal, stopping, timeoutMs: Math.min(messageTimeoutMs, limits.httpTimeoutMs) };
}

/** Service time in whole milliseconds, as the database stores it. */
export function serviceNow(clock: ServiceClock): number {
  return Math.round(clock.now());
}

/** Also true when `since` lies in the future (a clock was set back), so that no one waits for it again. */
export function hasPassed(ms: number, { since, now }: { since: number; now: number }): boolean {
  return now < since || now >= since + ms;
}

/** `serviceNow` for the log: real time while the service does not answer. */
export function instantForLog(deps: ActivityDependencies): Promise<number> {
  return deps.serviceClock().then(serviceNow, () => Math.round(deps.nowReal()));
}
