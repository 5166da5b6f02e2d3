import { createActivities } from '../../activities/index.ts';
import type { RequestNotes } from '../../activities/request-notes.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import type { Store } from '../../src/ledger/tx.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { connectService } from '../../src/service/registry.ts';
import { buildDependencies, connectionTo } from '../support/activity-dependencies.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import type { Worker, Submitting } from './campaign-loop.ts';
import type { WaitableClock } from './clock.ts';
import type { Mix } from './mix.ts';
import { createMortality } from './faults.ts';
import { mortalService, shakyStore, type Replies, type Strikes } from './strikes.ts';
import { Random } from '../../src/sandbox/core/random.ts';

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

/** What Temporal keeps of the submit under way, from one of its tries to the next. */
export class Witness {
  submitting: Submitting | null = null;
  /** Counts the tries of activities: Temporal hears of the last one alone. */
  tries = 0;
  /** For how many more batches submits went on, and where they were taken up. */
  readonly submits: string[] = [];
  /** How far each try of a submit goes on. */
  readonly #chains: Random;

  constructor(seed: number | string) {
    this.#chains = new Random('chains', seed);
  }

  /** A try that is over hears that it is no task any more. */
  open(): RequestNotes {
    const [submitting, entry] = [this.submitting, this.tries];
    if (submitting === null) throw new Error('No submit is under way.');
    let last = submitting.noted;
    if (last !== null && last.batchId !== submitting.batchId) this.submits.push('taken up at a later batch');
    let more = Math.floor(this.#chains.between(0, 5));
    return {
      get last() {
        return last;
      },
      get mayGoOn() {
        return more >= 0;
      },
      note: async (post) => {
        last = post;
        if (entry !== this.tries) throw new Error('no such task');
        submitting.noted = post;
      },
      answered: () => {
        more -= 1;
      },
      beat: () => {},
      close: () => {},
    };
  }
}
