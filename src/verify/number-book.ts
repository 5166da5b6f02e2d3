import { accountScope } from '../store/suppressions.ts';

/** What is known of each number: who is on the do-not-call list, and which call to it is open. */
export class NumberBook {
  /** By number and scope: when the entry is over. */
  readonly #suppressed = new Map<string, number>();
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
