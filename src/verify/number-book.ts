import type { PromiseBook } from './judge-asked.ts';

/** A call that may have been placed, by whatever campaign. */
export interface PlacedCall {
  attemptId: string;
  number: string;
  person: string | null;
  /** When it was posted last. */
  at: number;
  /** When the phone had rung at the latest: as its record tells, or as long as the service may take to dial. */
  rangBy: number;
  talked: boolean;
  /** It uses up a budget. */
  counted: boolean;
}

const all = 'account';

/** What is known of each number and person over all campaigns: calls, do-not-call entries, and which call is open. */
export class NumberBook {
  readonly #zones = new Map<string, readonly string[]>();
  /** By scope and number: when the entry is over. */
  readonly #suppressed = new Map<string, number>();
  readonly #byNumber = new Map<string, PlacedCall[]>();
  readonly #byPerson = new Map<string, PlacedCall[]>();
  readonly #open = new Map<string, string>();
  readonly #promises = new Map<string, PromiseBook>();

  suppress(number: string, scope: string, expiresAt: number | null): void {
    const key = `${scope} ${number}`;
    this.#suppressed.set(key, Math.max(this.#suppressed.get(key) ?? 0, expiresAt ?? Infinity));
  }

  allow(number: string, scope: string): void {
    this.#suppressed.delete(`${scope} ${number}`);
  }

  isSuppressed(number: string, campaignId: string, at: number): boolean {
    return [all, campaignId].some((scope) => (this.#suppressed.get(`${scope} ${number}`) ?? 0) > at);
  }

  /** Whether the log has put a number on the list of this scope and not taken it off. */
  has(scope: string, number: string): boolean {
    return this.#suppressed.has(`${scope} ${number}`);
  }

  /** Entries as the log has them last. */
  *entries(): Generator<{ scope: string; number: string; expiresAt: number }> {
    for (const [key, expiresAt] of this.#suppressed) {
      const blank = key.lastIndexOf(' ');
      yield { scope: key.slice(0, blank), number: key.slice(blank + 1), expiresAt };
    }
  }

  /** Calls to a number or a person that may have been placed, oldest first. */
  placedTo(by: 'number' | 'person', value: string | null): readonly PlacedCall[] {
    if (value === null) return [];
    return (by === 'number' ? this.#byNumber : this.#byPerson).get(value) ?? [];
  }

  place(call: PlacedCall): void {
    this.#listsOf(call, (calls) => calls.push(call));
  }

  unplace(call: PlacedCall): void {
    this.#listsOf(call, (calls) => {
      const index = calls.indexOf(call);
      if (index >= 0) calls.splice(index, 1);
    });
  }

  #listsOf({ number, person }: PlacedCall, change: (calls: PlacedCall[]) => void): void {
    const changeIn = (book: Map<string, PlacedCall[]>, key: string): void => {
      const calls = book.get(key) ?? [];
      change(calls);
      book.set(key, calls);
    };
    changeIn(this.#byNumber, number);
    if (person !== null) changeIn(this.#byPerson, person);
  }

  /** The last promise to call a number back, over all campaigns. */
  promise(number: string, promise: PromiseBook): void {
    this.#promises.set(number, promise);
  }

  promisedTo(number: string): PromiseBook | undefined {
    return this.#promises.get(number);
  }

  openCall(number: string): string | undefined {
    return this.#open.get(number);
  }

  openCallTo(number: string, attemptId: string): void {
    this.#open.set(number, attemptId);
  }

  closeCall(number: string | null, attemptId: string): void {
    if (number !== null && this.#open.get(number) === attemptId) this.#open.delete(number);
  }

  /** The zones of a call as they are kept for all calls to the same place, of which there are few; null: the log does not tell. */
  sameZones(zones: unknown): readonly string[] | null {
    if (!Array.isArray(zones)) return null;
    const key = zones.join();
    const known = this.#zones.get(key) ?? (zones as string[]);
    this.#zones.set(key, known);
    return known;
  }
}
