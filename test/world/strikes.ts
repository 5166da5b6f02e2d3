import type { CallService, Placing } from '../../src/service/port/call-service.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** Where a process can die, or lose the word that its work was done. */
export const strikePoints = [
  /** `posting` is committed, the POST not begun. */
  'dies_before_post',
  /** The POST is answered, its verdict not written. */
  'dies_after_post',
  'dies_in_list',
  'dies_in_read',
  /** The transaction is committed, and its caller hears that the connection broke. */
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
  /** The service has heard it, and its answer is lost. */
  'dies_after_withdraw',
] as const;
export type StrikePoint = (typeof strikePoints)[number] | (typeof reportPoints)[number];

export interface Strike {
  point: StrikePoint;
  /** Which passage, from 1, counted over the whole run. */
  nth: number;
}

/** Which strikes stand around each request that is no POST. */
const around = {
  records: ['dies_in_list', null],
  record: ['dies_in_read', null],
  find: ['dies_before_look_up', 'dies_after_look_up'],
  report: [null, 'dies_after_report'],
  withdraw: ['dies_before_withdraw', 'dies_after_withdraw'],
} as const satisfies Partial<Record<keyof CallService, readonly [before: StrikePoint | null, after: StrikePoint | null]>>;

/** Thrown into the driver when the simulated process is gone; its own code never goes on. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied' as const;
}

/** Counts passages and says which of them are struck. */
export class Strikes {
  readonly #strikes: readonly Strike[];
  readonly #passed = new Map<StrikePoint, number>();
  readonly struck: StrikePoint[] = [];

  constructor(strikes: readonly Strike[]) {
    this.#strikes = strikes;
  }

  /** Notes a passage; without a point there is none. */
  strike(point: StrikePoint | null): boolean {
    if (point === null) return false;
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

/** What a process knows of the replies to its requests to dial. */
export interface Replies {
  /** Ids of the requests whose reply it never had. */
  lost: Set<string>;
  /** Settles when the service keeps this request waiting for longer than the client would wait. */
  givenUp: (requestId: string) => Promise<void>;
}

/** The service of a process that dies where it is struck. */
export function mortalService(service: CallService, strikes: Strikes, mortality: Mortality, replies: Replies): CallService {
  const mortal: CallService = {
    ...service,
    async place(request, once) {
      const dieIf = (point: StrikePoint): Promise<never> | undefined => {
        if (!strikes.strike(point)) return undefined;
        replies.lost.add(once.requestId);
        return mortality.die();
      };
      await dieIf('dies_before_post');
      // The service's clock stands still while an answer is awaited, so giving up is decided here and not timed.
      const givenUp = replies.givenUp(once.requestId).then((): Placing => {
        replies.lost.add(once.requestId);
        return { kind: 'unknown', status: null, requestId: null, serviceMs: null, fault: 'no answer in time' };
      });
      const placed = await Promise.race([service.place(request, once), givenUp]);
      await dieIf('dies_after_post');
      return placed;
    },
  };
  for (const [name, [before, after]] of Object.entries(around)) {
    const ask = service[name as keyof typeof around] as ((...given: unknown[]) => Promise<unknown>) | undefined;
    if (ask === undefined) continue;
    const struckAsk: typeof ask = async (...given) => {
      if (strikes.strike(before)) return mortality.die();
      const answer = await ask.apply(service, given);
      return strikes.strike(after) ? mortality.die() : answer;
    };
    Object.assign(mortal, { [name]: struckAsk });
  }
  return mortal;
}

export function brokenConnection(): Error {
  return Object.assign(new Error('the connection to the database broke'), { code: 'ECONNRESET' });
}

/** A store whose commits sometimes fail, or succeed unheard. */
export function shakyStore(store: Store, strikes: Strikes): Store {
  return {
    ...store,
    async transaction(work) {
      if (strikes.strike('commit_refused')) throw brokenConnection();
      const result = await store.transaction(work);
      if (strikes.strike('commit_unheard')) throw brokenConnection();
      return result;
    },
  };
}
