import type { Agent, PhoneNumber, SipTrunk } from './agent.ts';
import type { ServiceState } from './service-state.ts';

export type StateChange = { change: 'created' | 'changed' | 'deleted'; id: string } & (
  | { kind: 'agent'; value: Agent | null }
  | { kind: 'number'; value: PhoneNumber | null }
  | { kind: 'sip_trunk'; value: SipTrunk | null }
);

/**
 * Finds what has changed among agents, numbers and SIP trunks since it last looked, whoever changed it. There are few of them:
 * agents and trunks are compared by identity, numbers, which are changed in place, by a copy.
 */
export class StateChanges {
  #state: ServiceState | null = null;
  #agents = new Map<string, Agent>();
  #numbers = new Map<string, PhoneNumber>();
  #trunks = new Map<string, SipTrunk>();

  /** Looks without telling: from here on. */
  skip(state: ServiceState): void {
    this.#state = state;
    this.#agents = new Map(state.agents);
    this.#numbers = new Map([...state.numbers].map(([id, number]) => [id, { ...number }]));
    this.#trunks = new Map(state.sipTrunks);
  }

  /** What differs from the last look; nothing when the whole state has been replaced meanwhile. */
  find(state: ServiceState): StateChange[] {
    const changes: StateChange[] = [];
    if (this.#state === state) {
      for (const { id, change, value } of compare(this.#agents, state.agents, (a, b) => a === b))
        changes.push({ kind: 'agent', id, change, value });
      for (const { id, change, value } of compare(this.#numbers, state.numbers, isSame))
        changes.push({ kind: 'number', id, change, value });
      for (const { id, change, value } of compare(this.#trunks, state.sipTrunks, (a, b) => a === b))
        changes.push({ kind: 'sip_trunk', id, change, value });
    }
    if (changes.length > 0 || this.#state !== state) this.skip(state);
    return changes;
  }
}

function* compare<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  same: (a: T, b: T) => boolean,
): Generator<{ id: string; change: StateChange['change']; value: T | null }> {
  for (const [id, value] of after) {
    const known = before.get(id);
    if (known === undefined) yield { id, change: 'created', value };
    else if (!same(known, value)) yield { id, change: 'changed', value };
  }
  for (const id of before.keys()) if (!after.has(id)) yield { id, change: 'deleted', value: null };
}

function isSame(a: PhoneNumber, b: PhoneNumber): boolean {
  const keys = Object.keys(b) as (keyof PhoneNumber)[];
  return keys.length === Object.keys(a).length && keys.every((key) => a[key] === b[key]);
}
