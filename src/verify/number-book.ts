import type { PlacedCall } from '../domain/frequency-caps.ts';
import { accountScope } from '../store/suppressions.ts';

/** Whom a call went to. */
export interface Callee {
  number: string;
  person: string | null;
}

/** What is known of each number: who is on the do-not-call list, and which call to it is open. */
export class NumberBook {
  /** By number and scope: when the entry is over. */
  readonly #suppressed = new Map<string, number>();
  /** Calls placed, by number and by person, oldest first. */
  readonly #placed = { number: new Map<string, PlacedCall[]>(), person: new Map<string, PlacedCall[]>() };
  readonly #calls = new Map<string, { call: PlacedCall; callee: Callee }>();
  /** By number and attempt: when it was placed, of those that use up a budget. */
  readonly #counted = new Map<string, Map<string, number>>();
  readonly #openByNumber = new Map<string, string>();
  readonly #numberByCall = new Map<string, string>();

  suppress(number: string, scope: string, expiresAt: number | null): void {
    const key = `${scope} ${number}`;
    this.#suppressed.set(key, Math.max(this.#suppressed.get(key) ?? 0, expiresAt ?? Infinity));
  }

  allow(number: string, scope: string): void {
    this.#suppressed.delete(`${scope} ${number}`);
  }

  isSuppressed(number: string, campaignId: string, at: number): boolean {
    return [accountScope, campaignId].some((scope) => (this.#suppressed.get(`${scope} ${number}`) ?? 0) > at);
  }

  placedTo(by: 'number' | 'person', value: string | null): readonly PlacedCall[] {
    return (value === null ? undefined : this.#placed[by].get(value)) ?? [];
  }

  place(attemptId: string, at: number, callee: Callee): void {
    const call = { at, talked: false };
    this.#calls.set(attemptId, { call, callee });
    for (const calls of this.#listsOf(callee)) calls.push(call);
  }

  /** The call was a talk. */
  noteTalk(attemptId: string): void {
    const placed = this.#calls.get(attemptId);
    if (placed !== undefined) placed.call.talked = true;
  }

  /** The call was never placed after all. */
  unplace(attemptId: string): void {
    const placed = this.#calls.get(attemptId);
    if (placed === undefined) return;
    this.#calls.delete(attemptId);
    for (const calls of this.#listsOf(placed.callee)) calls.splice(calls.indexOf(placed.call), 1);
  }

  #listsOf(callee: Callee): PlacedCall[][] {
    return (['number', 'person'] as const).flatMap((by) => {
      const value = callee[by];
      if (value === null) return [];
      const calls = this.#placed[by].get(value) ?? [];
      this.#placed[by].set(value, calls);
      return [calls];
    });
  }

  /** Whether the call uses up the budget of its number. */
  setCounted(attemptId: string, counts: boolean): void {
    const placed = this.#calls.get(attemptId);
    if (placed === undefined) return;
    const counted = this.#counted.get(placed.callee.number) ?? new Map<string, number>();
    if (counts) counted.set(attemptId, placed.call.at);
    else counted.delete(attemptId);
    this.#counted.set(placed.callee.number, counted);
  }

  /** Instants of the calls that use up the budget of a number. */
  countedTo(number: string): number[] {
    return [...(this.#counted.get(number)?.values() ?? [])];
  }

  openCall(number: string): string | undefined {
    return this.#openByNumber.get(number);
  }

  openCallTo(number: string, attemptId: string): void {
    this.#openByNumber.set(number, attemptId);
    this.#numberByCall.set(attemptId, number);
  }

  closeCall(attemptId: string): void {
    const number = this.#numberByCall.get(attemptId);
    if (number === undefined) return;
    if (this.#openByNumber.get(number) === attemptId) this.#openByNumber.delete(number);
    this.#numberByCall.delete(attemptId);
  }
}
