import type { CallService, Placing } from '../../src/service/port/call-service.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { brokenConnection, type Mortality, type Strike as Befalling } from './faults.ts';

type Struck = keyof CallService | 'commit' | 'plan result' | 'submit result';
export type StrikePoint = `${Struck}: ${Befalling}`;

/** Where a process can die, or lose the word that its work was done. */
export const strikePoints = [
  'place: dies before',
  'place: dies after',
  'records: dies before',
  'record: dies before',
  'commit: unheard',
  'commit: fails',
  'plan result: unheard',
  'submit result: unheard',
] as const satisfies StrikePoint[];
/** The same around what only a service does that names recipients. */
export const reportPoints = [
  'find: dies before',
  'find: dies after',
  'report: dies after',
  'withdraw: dies before',
  'withdraw: dies after',
] as const satisfies StrikePoint[];

export interface Strike {
  point: StrikePoint;
  /** Which passage, from 1, counted over the whole run. */
  nth: number;
}

export class Strikes {
  readonly #strikes: readonly Strike[];
  readonly #passed = new Map<StrikePoint, number>();
  readonly struck: StrikePoint[] = [];

  constructor(strikes: readonly Strike[]) {
    this.#strikes = strikes;
  }

  /** Notes a passage. */
  strike(point: StrikePoint): boolean {
    const nth = (this.#passed.get(point) ?? 0) + 1;
    this.#passed.set(point, nth);
    const struck = this.#strikes.some((strike) => strike.point === point && strike.nth === nth);
    if (struck) this.struck.push(point);
    return struck;
  }
}

export interface Replies {
  /** Ids of the requests whose reply it never had. */
  lost: Set<string>;
  /** Settles once the client would have given this request up. */
  givenUp: (requestId: string) => Promise<void>;
}

export function mortalService(service: CallService, strikes: Strikes, mortality: Mortality, replies: Replies): CallService {
  const mortal: CallService = {
    ...service,
    async place(request, once) {
      const dieIf = (point: StrikePoint): Promise<never> | undefined => {
        if (!strikes.strike(point)) return undefined;
        replies.lost.add(once.requestId);
        return mortality.die();
      };
      await dieIf('place: dies before');
      // The service's clock stands still while an answer is awaited, so giving up is decided here and not timed.
      const givenUp = replies.givenUp(once.requestId).then((): Placing => {
        replies.lost.add(once.requestId);
        return { kind: 'unknown', status: null, requestId: null, serviceMs: null, fault: 'no answer in time' };
      });
      const placed = await Promise.race([service.place(request, once), givenUp]);
      await dieIf('place: dies after');
      return placed;
    },
  };
  for (const name of ['records', 'record', 'find', 'report', 'withdraw'] as const) {
    const ask = service[name] as ((...given: unknown[]) => Promise<unknown>) | undefined;
    if (ask === undefined) continue;
    const struckAsk: typeof ask = async (...given) => {
      if (strikes.strike(`${name}: dies before`)) return mortality.die();
      const answer = await ask.apply(service, given);
      return strikes.strike(`${name}: dies after`) ? mortality.die() : answer;
    };
    Object.assign(mortal, { [name]: struckAsk });
  }
  return mortal;
}

/** A store whose commits sometimes fail, or succeed unheard. */
export function shakyStore(store: Store, strikes: Strikes): Store {
  return {
    ...store,
    async transaction(work) {
      if (strikes.strike('commit: fails')) throw brokenConnection();
      const result = await store.transaction(work);
      if (strikes.strike('commit: unheard')) throw brokenConnection();
      return result;
    },
  };
}
