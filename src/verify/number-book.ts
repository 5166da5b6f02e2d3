import type { AuditedAccountRules } from './judged-rules.ts';

export interface Callback {
  recipientId: string;
  dueAt: number;
  until: number;
  /** Null: open. */
  ended: string | null;
}

/** A call that may have been placed, by any campaign. */
export interface PlacedCall {
  attemptId: string;
  number: string;
  person: string | null;
  caller: string;
  /** Last post, epoch ms. */
  at: number;
  /** Latest ring: by its record, else by the longest dispatch time of the service. */
  rangBy: number;
  talked: boolean;
  counted: boolean;
}

const all = 'account';
const ofPurpose = 'purpose:';

/** Over all campaigns: calls, do-not-call entries, and the open call. */
export class NumberState {
  /** As last logged. */
  house: AuditedAccountRules | null = null;
  houseVersion = 0;
  readonly #zones = new Map<string, readonly string[]>();
  /** Expiry, by scope and number. */
  readonly #suppressed = new Map<string, number>();
  /** Scopes of entries that revoke consent. */
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

  /** Whether consent for this purpose was revoked; null: for any. */
  isRevoked(number: string, purpose: string | null, at: number): boolean {
    return this.#holds(number, purpose === null ? [...this.#purposes] : [`${ofPurpose}${purpose}`], at);
  }

  #holds(number: string, scopes: readonly string[], at: number): boolean {
    return scopes.some((scope) => (this.#suppressed.get(`${scope} ${number}`) ?? 0) > at);
  }

  has(scope: string, number: string): boolean {
    return this.#suppressed.has(`${scope} ${number}`);
  }

  *entries(): Generator<{ scope: string; number: string; expiresAt: number }> {
    for (const [key, expiresAt] of this.#suppressed) {
      const blank = key.lastIndexOf(' ');
      yield { scope: key.slice(0, blank), number: key.slice(blank + 1), expiresAt };
    }
  }

  /** Calls that any campaign may have placed, oldest first. */
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

  /** One shared array for all calls in the same zones, to save memory; null: not logged. */
  sameZones(zones: unknown): readonly string[] | null {
    if (!Array.isArray(zones)) return null;
    const key = zones.join();
    const known = this.#zones.get(key) ?? (zones as string[]);
    this.#zones.set(key, known);
    return known;
  }
}
