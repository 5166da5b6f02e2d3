import type { ConvaiClient } from '../../../src/service/convai/client.ts';
import { OutcomeUnknownError } from '../../../src/service/port/errors.ts';
import type { Store } from '../../../src/ledger/open-ledger.ts';

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
export type ChaosPoint = (typeof chaosPoints)[number];

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

export function mortalClient(
  client: ConvaiClient,
  chaos: Chaos,
  mortality: Mortality,
  lostReplies: Set<string>,
  /** Settles when the service keeps this request waiting for longer than the client would wait. */
  hung: (requestId: string) => Promise<void>,
): ConvaiClient {
  return {
    ...client,
    async placeBatchCalls(body, options) {
      if (chaos.strikes('dies_before_post')) {
        lostReplies.add(options.requestId);
        return mortality.die();
      }
      const answered = client.placeBatchCalls(body, options).catch((error: unknown) => ({ error }));
      // The service's clock stands still while an answer is awaited, so giving up is told and not timed.
      const givenUp = hung(options.requestId).then(() => {
        const request = { method: 'POST', path: '/v1/convai/phone-numbers/batch-calls', requestId: options.requestId };
        lostReplies.add(options.requestId);
        return {
          error: new OutcomeUnknownError(request, { status: null, phase: 'awaiting_response' }, 'no answer in time.'),
        };
      });
      const placed = await Promise.race([answered, givenUp]);
      if (chaos.strikes('dies_after_post')) {
        lostReplies.add(options.requestId);
        return mortality.die();
      }
      if ('error' in placed) throw placed.error;
      return placed;
    },
    async listConversationsPage(filter) {
      if (chaos.strikes('dies_in_list')) return mortality.die();
      return client.listConversationsPage(filter);
    },
    async getConversation(conversationId) {
      if (chaos.strikes('dies_in_read')) return mortality.die();
      return client.getConversation(conversationId);
    },
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
