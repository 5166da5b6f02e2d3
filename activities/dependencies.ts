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

/** What the activities work with; a test hands in its own. */
export interface ActivityDependencies {
  store: Store;
  service: CallService;
  /** The service's address: the account of the campaigns that are imported here. */
  accountId: string;
  /** By which API it is asked. */
  api: ServiceApi;
  /** The clock that the service lives by, asked anew from time to time. */
  serviceClock: () => Promise<ServiceClock>;
  logger: Logger;
  /** Signs what is sent to hooks; without it nothing is sent to them, and a campaign with a pre-dial hook calls nobody. */
  hookSecret?: string | undefined;
  /** Where hooks and webhooks may stand beside the internet; without it nowhere. */
  hookNetworks?: BlockList | undefined;
  /** Through which hooks, webhooks and lists are reached; without it through none. */
  proxies?: Proxies | undefined;
  /** Reads a variable of the environment that a campaign file or a schedule names; without it none is set. */
  readVariable?: ((name: string) => string | undefined) | undefined;
  /** Real epoch milliseconds. */
  nowReal: () => number;
  /** Milliseconds that never jump, also when the wall clock is set. */
  monotonicMs: () => number;
  /** Names this process in leases. */
  workerId: string;
  /** Aborted when the process is asked to stop: long activities then end with what they have. */
  stopping: AbortSignal;
  /** What the collects of this process tell each other. */
  sweepNews: SweepNews;
  /** Opened by each submit; its heartbeats go on until it is closed. */
  openRequestNotes: () => RequestNotes;
  limits: {
    /** How long after `posting` is committed the POST may still begin. */
    postingWindowMs: number;
    /** Between two requests that dial, of all processes that use this database and account. */
    requestGapMs: number;
    /** Connect, headers and body limits of the client together. */
    httpTimeoutMs: number;
    /** A collect ends at the latest after this long. */
    collectMaxMs: number;
    /** Pause between two heartbeats of a collect. */
    heartbeatEveryMs: number;
    /** A process that sweeps an agent's list and is silent for this long loses it to another one. */
    leaseMs: number;
  };
}

/** At most so long a message to a hook or webhook takes. */
export const messageTimeoutMs = 15_000;

/** How this process sends to hooks and webhooks. */
export function senderOf(deps: ActivityDependencies): Sender & { timeoutMs: number } {
  const { readVariable = () => undefined, hookSecret: secret = null, hookNetworks: networks, proxies, nowReal, stopping, limits } = deps;
  return { readVariable, secret, networks, proxies, nowReal, stopping, timeoutMs: Math.min(messageTimeoutMs, limits.httpTimeoutMs) };
}

/** Service time in whole milliseconds, as the database keeps it. */
export function serviceNow(clock: ServiceClock): number {
  return Math.round(clock.now());
}

/** Whether so much service time has passed since; also when that is to come, as after a clock was set back: nobody waits for it again. */
export function hasPassed(ms: number, { since, now }: { since: number; now: number }): boolean {
  return now < since || now >= since + ms;
}

/** `serviceNow` for the log alone: a service that does not answer must not keep it from being written. */
export function instantForLog(deps: ActivityDependencies): Promise<number> {
  return deps.serviceClock().then(serviceNow, () => Math.round(deps.nowReal()));
}
