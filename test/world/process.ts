import { createActivities } from '../../activities/index.ts';
import type { RequestNotes } from '../../activities/request-notes.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import type { Store } from '../../src/ledger/tx.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { connectService } from '../../src/service/registry.ts';
import { buildDependencies, connectionTo } from '../support/activity-dependencies.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import type { Worker } from './campaign-loop.ts';
import type { WaitableClock } from './clock.ts';
import type { Mix } from './mix.ts';
import { createMortality } from './faults.ts';
import { mortalService, shakyStore, type Replies, type Strikes } from './strikes.ts';

/** A worker on the ledger that can die. */
export interface Process extends Worker {
  store: Store;
  service: CallService;
  died: Promise<never>;
  /** How far its wall clock is off, after so many milliseconds. */
  skewMs: (passedMs: number) => number;
}

export const collectMaxMs = 5 * minuteMs;

/** Where it runs. */
interface Place {
  mix: Mix;
  clock: WaitableClock;
  begunAt: number;
  serviceUrl: string;
  sqlitePath: string;
  strikes: Strikes;
  replies: Replies;
  openRequestNotes: () => RequestNotes;
}

/** `workerId`: its own. */
export async function startProcess(place: Place, workerId: string, skewMs: Process['skewMs']): Promise<Process> {
  const { mix, clock, serviceUrl, sqlitePath, strikes } = place;
  const { databaseUrl, api = 'contract' } = mix;
  const opened = await openStore(databaseUrl === undefined ? { sqlitePath } : { databaseUrl, sqlitePath });
  const nowReal = () => clock.now() + skewMs(clock.now() - place.begunAt);
  const mortality = createMortality();
  const service = connectService({ api, ...connectionTo(serviceUrl, nowReal, () => clock.now()) });
  const timed = { ...opened, now: async () => clock.now() };
  const deps = buildDependencies({
    store: shakyStore(mix.wrapStore?.(timed) ?? timed, strikes),
    api,
    service: mortalService(mix.wrapService?.(service) ?? service, strikes, mortality, place.replies),
    now: nowReal,
    serviceClock: { dialect: mix.sandbox.dialect ?? 'extended' },
    monotonicMs: () => clock.now(),
    accountId: serviceUrl,
    workerId,
    openRequestNotes: place.openRequestNotes,
    limits: { collectMaxMs },
  });
  return { skewMs, store: opened, deps, activities: createActivities(deps), died: mortality.died, service };
}
