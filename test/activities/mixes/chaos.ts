import type { CallService, Placing } from '../../../src/service/port/call-service.ts';
import type { Store } from '../../../src/ledger/tx.ts';

/** Where a process can die, or lose the word that its work was done. */
export const chaosPoints = [
  /** `posting` is committed, the POST not begun. */
  'dies_before_post',
  /** The POST is answered, its verdict not written. */
  'dies_after_post',
  'dies_in_list',
  'dies_in_read',
  /** The transaction is committed, and its caller is told that the connection broke. */
  'commit_unheard',
  /** The transaction does not happen. */
  'commit_refused',
  'plan_result_lost',
  'submit_result_lost',
] as const;
/** The same around what only a service does that names recipients. */
export const reportPoints = [
  'dies_before_look_up',
  'dies_after_look_up',
  /** The report is read, and nothing of it written. */
  'dies_after_report',
  /** `batch.withdrawing` is committed, the service not asked. */
  'dies_before_withdraw',
  /** The service has heard it, and nobody knows. */
  'dies_after_withdraw',
] as const;
export type ChaosPoint = (typeof chaosPoints)[number] | (typeof reportPoints)[number];

export interface ChaosStrike {
  point: ChaosPoint;
  /** Which passage, from 1, counted over the whole run. */
  nth: number;
}

/** Thrown into the driver when the simulated process is gone; its own code never goes on. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied' as const;
}

/** Counts passages and says which of them are struck. */
export class Chaos {
  readonly #strikes: readonly ChaosStrike[];
  readonly #passed = new Map<ChaosPoint, number>();
  readonly struck: ChaosPoint[] = [];

  constructor(strikes: readonly ChaosStrike[]) {
    this.#strikes = strikes;
  }

  strikes(point: ChaosPoint): boolean {
    const nth = (this.#passed.get(point) ?? 0) + 1;
    this.#passed.set(point, nth);
    const struck = this.#strikes.some((strike) => strike.point === point && strike.nth === nth);
    if (struck) this.struck.push(point);
    return struck;
  }
}

export interface Mortality {
  /** Kills the process; what awaits the answer waits for ever. */
  die(): Promise<never>;
  died: Promise<never>;
}

export function createMortality(): Mortality {
  let kill: (error: ProcessDied) => void = () => {};
  const died = new Promise<never>((_, reject) => {
    kill = reject;
  });
  died.catch(() => {});
  return {
    died,
    die: () => {
      kill(new ProcessDied('the process is gone'));
      return new Promise<never>(() => {});
    },
  };
}

export function mortalService(
  service: CallService,
  chaos: Chaos,
  mortality: Mortality,
  lostReplies: Set<string>,
  /** Settles when the service keeps this request waiting for longer than the client would wait. */
  hung: (requestId: string) => Promise<void>,
): CallService {
  return {
    ...service,
    async place(request, once) {
      if (chaos.strikes('dies_before_post')) {
        lostReplies.add(once.requestId);
        return mortality.die();
      }
      // The service's clock stands still while an answer is awaited, so giving up is told and not timed.
      const givenUp = hung(once.requestId).then((): Placing => {
        lostReplies.add(once.requestId);
        return { kind: 'unknown', status: null, requestId: null, serviceMs: null, fault: 'no answer in time' };
      });
      const placed = await Promise.race([service.place(request, once), givenUp]);
      if (chaos.strikes('dies_after_post')) {
        lostReplies.add(once.requestId);
        return mortality.die();
      }
      return placed;
    },
    async records(filter, pointers) {
      if (chaos.strikes('dies_in_list')) return mortality.die();
      return service.records(filter, pointers);
    },
    async record(conversationId, reading) {
      if (chaos.strikes('dies_in_read')) return mortality.die();
      return service.record(conversationId, reading);
    },
    ...(service.find === undefined
      ? {}
      : {
          async find(post) {
            if (chaos.strikes('dies_before_look_up')) return mortality.die();
            const found = await service.find?.(post);
            return found === undefined || chaos.strikes('dies_after_look_up') ? mortality.die() : found;
          },
        }),
    ...(service.report === undefined
      ? {}
      : {
          async report(serviceBatchId) {
            const reports = await service.report?.(serviceBatchId);
            return reports === undefined || chaos.strikes('dies_after_report') ? mortality.die() : reports;
          },
        }),
    ...(service.withdraw === undefined
      ? {}
      : {
          async withdraw(serviceBatchId, refs) {
            if (chaos.strikes('dies_before_withdraw')) return mortality.die();
            await service.withdraw?.(serviceBatchId, refs);
            return chaos.strikes('dies_after_withdraw') ? mortality.die() : undefined;
          },
        }),
  };
}

export function brokenConnection(): Error {
  return Object.assign(new Error('the connection to the database broke'), { code: 'ECONNRESET' });
}

/** A store whose commits sometimes fail, or succeed unheard. */
export function shakyStore(store: Store, chaos: Chaos): Store {
  return {
    ...store,
    async transaction(work) {
      if (chaos.strikes('commit_refused')) throw brokenConnection();
      const result = await store.transaction(work);
      if (chaos.strikes('commit_unheard')) throw brokenConnection();
      return result;
    },
  };
}
