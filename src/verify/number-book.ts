import type { JudgedHouse } from './judged-rules.ts';

/** A promise to call a recipient back. */
export interface Callback {
  recipientId: string;
  dueAt: number;
  until: number;
  /** Null: it is open. */
  ended: string | null;
}

/** A call that may have been placed, by whatever campaign. */
export interface PlacedCall {
  attemptId: string;
  number: string;
  person: string | null;
  /** The number that calls. */
  caller: string;
  /** When it was posted last. */
  at: number;
  /** When the phone had rung at the latest: as its record tells, or as long as the service may take to dial. */
  rangBy: number;
  talked: boolean;
  /** It uses up a budget. */
  counted: boolean;
}

const all = 'account';
const ofPurpose = 'purpose:';

/** What is known of each number and person over all campaigns: calls, do-not-call entries, and which call is open. */
export class NumberBook {
  /** The rules that hold for all campaigns, as the log has them last, and the number of their version. */
  house: JudgedHouse | null = null;
  houseVersion = 0;
  readonly #zones = new Map<string, readonly string[]>();
  /** By scope and number: when the entry is over. */
  readonly #suppressed = new Map<string, number>();
  /** Scopes of entries by which consent was taken back. */
  readonly #purposes = new Set<string>();
  readonly #placed = {
    number: new Map<string, PlacedCall[]>(),
    person: new Map<string, PlacedCall[]>(),
    caller: new Map<string, PlacedCall[]>(),
  };
  readonly open = new Map<string, string>();
  readonly promises = new Map<string, Callback>();

  suppress(number: string, scope: string, expiresAt: number | null): void {
    if (scope.startsWith(ofPurpose)) this.#purposes.add(scope);
    const key = `${scope} ${number}`;
    this.#suppressed.set(key, Math.max(this.#suppressed.get(key) ?? 0, expiresAt ?? Infinity));
  }

  allow(number: string, scope: string): void {
    this.#suppressed.delete(`${scope} ${number}`);
  }

  isSuppressed(number: string, campaignId: string, at: number): boolean {
    return this.#holds(number, [all, campaignId], at);
  }

  /** Whether consent for this purpose was taken back; null: for any. */
  isRevoked(number: string, purpose: string | null, at: number): boolean {
    return this.#holds(number, purpose === null ? [...this.#purposes] : [`${ofPurpose}${purpose}`], at);
  }

  #holds(number: string, scopes: readonly string[], at: number): boolean {
    return scopes.some((scope) => (this.#suppressed.get(`${scope} ${number}`) ?? 0) > at);
  }

  /** Whether the log has put a number on the list of this scope and not taken it off. */
  has(scope: string, number: string): boolean {
    return this.#suppressed.has(`${scope} ${number}`);
  }

  *entries(): Generator<{ scope: string; number: string; expiresAt: number }> {
    for (const [key, expiresAt] of this.#suppressed) {
      const blank = key.lastIndexOf(' ');
      yield { scope: key.slice(0, blank), number: key.slice(blank + 1), expiresAt };
    }
  }

  /** Calls to a number or a person, or from a number, that may have been placed, by all campaigns, oldest first. */
  placed(by: 'number' | 'person' | 'caller', value: string | null): readonly PlacedCall[] {
    return value === null ? [] : (this.#placed[by].get(value) ?? []);
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

  #listsOf(call: PlacedCall, change: (calls: PlacedCall[]) => void): void {
    for (const by of ['number', 'person', 'caller'] as const) {
      const value = call[by];
      if (value === null) continue;
      const calls = this.#placed[by].get(value) ?? [];
      change(calls);
      this.#placed[by].set(value, calls);
    }
  }

  closeCall({ number, attemptId }: PlacedCall): void {
    if (this.open.get(number) === attemptId) this.open.delete(number);
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
