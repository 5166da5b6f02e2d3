import { purposePrefix } from '../../src/rules/consent.ts';
import type { AttemptState, BatchState } from '../../src/rules/ledger.ts';
import type { Tx } from '../../src/ledger/tx.ts';
import type { Strike } from '../world/faults.ts';

/** A state change by an effect, `batch intent → posting`; or a request, or its note. */
export type Transition = `${'batch' | 'attempt' | 'request' | 'promise' | 'pilot' | 'row' | 'consent' | 'house rules'} ${string}`;

export const noteOfWithdrawal: Transition = 'request batch.withdrawing';

export interface Effect {
  who: string;
  step: number;
  operation: string;
  nth: number;
  what: string;
  transitions: readonly Transition[];
  /** The service's name of the request that a commit allowed. */
  posting: string | null;
  strike: Strike | null;
  at: number;
}

/** Whether it happened. */
export function stands({ strike }: Effect): boolean {
  return strike === null || strike === 'dies after' || strike === 'unheard';
}

export interface Looked {
  what: string;
  transitions: Transition[];
  posting: string | null;
  keep: () => void;
}

type LedgerStates = { batches: Map<string, BatchState>; attempts: Map<string, AttemptState> };

/** Of all processes of one campaign, in order. */
export class EffectLog {
  readonly effects: Effect[] = [];
  readonly now: () => number;
  #states: LedgerStates = { batches: new Map(), attempts: new Map() };
  #seq = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  async look(tx: Tx): Promise<Looked> {
    const events = await tx
      .selectFrom('events')
      .select(['seq', 'type', 'batch_id', 'data'])
      .where('seq', '>', this.#seq)
      .orderBy('seq')
      .execute();
    const stored = await tx.selectFrom('attempts').select(['attempt_id', 'state']).execute();
    const batches = new Map(this.#states.batches);
    const transitions: Transition[] = [];
    for (const { type, batch_id: id, data } of events) {
      const to = stateTold(type, data);
      if (id === null || to === null || batches.get(id) === to) continue;
      transitions.push(`batch ${batches.get(id) ?? '·'} → ${to}`);
      batches.set(id, to);
    }
    for (const { type, data } of events) {
      const made = promiseTold(type, data) ?? limitTold(type, data);
      if (made !== null) transitions.push(made);
    }
    const attempts = new Map(stored.map((row) => [row.attempt_id, row.state] as const));
    for (const [id, to] of attempts) {
      const from = this.#states.attempts.get(id);
      if (from !== to) transitions.push(`attempt ${from ?? '·'} → ${to}`);
    }
    const types = [...new Set(events.map(({ type }) => type))];
    if (types.includes('batch.withdrawing')) transitions.push(noteOfWithdrawal);
    const seq = events.at(-1)?.seq ?? this.#seq;
    const posted = events.find(({ type }) => type === 'batch.posting');
    return {
      what: types.length === 0 ? 'commit' : `commit ${types.join(', ')}`,
      transitions,
      posting: posted === undefined ? null : `${posted.batch_id}/${(JSON.parse(posted.data ?? '{}') as { k: number }).k}`,
      keep: () => {
        this.#states = { batches, attempts };
        this.#seq = Math.max(this.#seq, seq);
      },
    };
  }
}

function promiseTold(type: string, data: string | null): Transition | null {
  if (type === 'callback.promised') return 'promise · → open';
  if (type === 'callback.moved') return 'promise open → open';
  if (type === 'callback.unclear') return 'promise · → unclear';
  return type === 'callback.ended' ? `promise open → ${(JSON.parse(data ?? '{}') as { state: string }).state}` : null;
}

function limitTold(type: string, data: string | null): Transition | null {
  const told = JSON.parse(data ?? '{}') as { passed?: boolean; scope?: string };
  if (type === 'pilot.ended') return `pilot calling → ${told.passed === true ? 'passed' : 'asked'}`;
  if (type === 'pilot.decided') return 'pilot asked → passed';
  if (type === 'recipient.added') return 'row · → added';
  if (type === 'house.changed') return 'house rules · → set';
  return type === 'suppression.added' && told.scope?.startsWith(purposePrefix) === true ? 'consent given → revoked' : null;
}

function stateTold(type: string, data: string | null): BatchState | null {
  if (type === 'batch.planned') return 'intent';
  if (type === 'batch.posting') return 'posting';
  return type === 'batch.state' ? (JSON.parse(data ?? '{}') as { state: BatchState }).state : null;
}
