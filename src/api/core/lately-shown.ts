/** How long it counts that somebody has asked for something: numbers stay on a page, and the log is not told again. */
const lastsMs = 15 * 60_000;

/** Who has asked to be shown what, such as the numbers of a campaign, and until when it counts. A restart of the process forgets. */
export class LatelyShown {
  readonly #until = new Map<string, number>();

  /** `now`: real time. The event log has been told before. */
  show(tokenId: string, what: string, now: number): void {
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key);
    this.#until.set(`${tokenId} ${what}`, now + lastsMs);
  }

  hide(tokenId: string, what: string): void {
    this.#until.delete(`${tokenId} ${what}`);
  }

  isShown(tokenId: string, what: string, now: number): boolean {
    return (this.#until.get(`${tokenId} ${what}`) ?? 0) > now;
  }
}
