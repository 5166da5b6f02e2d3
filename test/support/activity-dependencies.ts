import { pino } from 'pino';
import { SweepNews } from '../../activities/sweep-news.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { readNetworks } from '../../src/shared/hooks/networks.ts';
import type { ConvaiClient } from '../../src/service/convai/client.ts';
import { contractService } from '../../src/service/convai/contract-service.ts';
import type { ServiceClock } from '../../src/service/port/service-clock.ts';
import { noon } from '../ledger/scenario.ts';
import { openNoWitness } from './activity-context.ts';
import { minuteMs } from './campaign-rules.ts';

/** `now`: the real clock, which the monotonic one and, at speed 1, the service's follow; default: noon. */
type Given = Pick<ActivityDependencies, 'store'> &
  Partial<Omit<ActivityDependencies, 'serviceClock' | 'limits'>> & {
    /** Of the contract, in place of a `service`. */
    client?: ConvaiClient;
    now?: () => number;
    serviceClock?: Partial<ServiceClock>;
    limits?: Partial<ActivityDependencies['limits']>;
  };

/** Default: process `one`, without log or service. */
export function buildDependencies({
  now = () => noon,
  client = {} as ConvaiClient,
  serviceClock,
  limits,
  ...given
}: Given): ActivityDependencies {
  const clock: ServiceClock = {
    speed: 1,
    sandbox: true,
    dialect: 'extended',
    now,
    toRealMs: (ms) => ms / clock.speed,
    atReal: (instant) => instant,
    ...serviceClock,
  };
  return {
    service: contractService(client),
    accountId: 'http://service',
    api: 'contract',
    serviceClock: async () => clock,
    logger: pino({ level: 'silent' }),
    hookNetworks: readNetworks('127.0.0.0/8') ?? undefined,
    nowReal: now,
    monotonicMs: now,
    workerId: 'one',
    stopping: new AbortController().signal,
    openRequestNotes: openNoWitness,
    sweepNews: new SweepNews(),
    limits: {
      postingWindowMs: 10_000,
      requestGapMs: 0,
      httpTimeoutMs: minuteMs,
      collectMaxMs: 5 * minuteMs,
      heartbeatEveryMs: 1_000,
      leaseMs: minuteMs,
      ...limits,
    },
    ...given,
  };
}

/** To a sandbox that answers at once; `monotonicMs`: its clock that never jumps. */
export function connectionTo(baseUrl: string, nowReal: () => number, monotonicMs = nowReal) {
  return {
    baseUrl,
    apiKey: 'sk_sandbox_ok',
    timeouts: { connectMs: 20_000, headersMs: 20_000, bodyMs: 20_000 },
    readsPerSecond: 1_000_000,
    retriesAfter429: { reads: 0 },
    nowReal,
    monotonicMs,
  };
}
