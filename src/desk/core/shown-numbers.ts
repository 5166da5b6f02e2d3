/** How long whole numbers stay on a page after somebody has asked for them. */
const lastsMs = 15 * 60_000;

/** Who has asked for whole numbers of which campaign, and until when they are shown. A restart of the process masks them again. */
export class ShownNumbers {
  readonly #until = new Map<string, number>();

  /** `now`: real time. The event log has been told before. */
  show(tokenId: string, campaignId: string, now: number): void {
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key);
    this.#until.set(`${tokenId} ${campaignId}`, now + lastsMs);
  }

  hide(tokenId: string, campaignId: string): void {
    this.#until.delete(`${tokenId} ${campaignId}`);
  }

  areShown(tokenId: string, campaignId: string, now: number): boolean {
    return (this.#until.get(`${tokenId} ${campaignId}`) ?? 0) > now;
  }
}
