import type { CampaignBook, JudgedLine } from './campaign-book.ts';
import type { LogViolation } from './log-rules.ts';

/** Follows the times of each campaign, which never fall by more than the clocks of several machines may be apart. */
export class TimeBook {
  /** Times that are a little lower than one before them, as clocks of two processes may be: how many, and by how much at most. */
  readonly falls = { count: 0, mostMs: 0 };
  readonly #reversals: { campaign: CampaignBook; violation: LogViolation; byMs: number }[] = [];

  /** Notes the time of a line. `violate`: names it as one that fell by too much. */
  note({ campaign, event, data }: JudgedLine, violate: (what: string) => LogViolation): void {
    const { at } = event;
    campaign.lastSeq = event.seq;
    // Whoever gives a campaign up need not have reached the service, whose clock it is. A step of that clock is told.
    if (event.type === 'campaign.state' && data['to'] === 'failed') return;
    const fall = event.type.startsWith('clock.') ? 0 : campaign.lastAt - at;
    const isReversal = fall > campaign.rules.timing.clockToleranceMs;
    if (isReversal) {
      const [from, to] = [new Date(campaign.lastAt), new Date(at)];
      const violation = violate(`${event.type} is told of ${to.toISOString()}, after ${from.toISOString()}`);
      this.#reversals.push({ campaign, violation, byMs: fall });
    } else if (fall > 0) this.#noteFall(fall);
    campaign.lastAt = isReversal || event.type.startsWith('clock.') ? at : Math.max(campaign.lastAt, at);
  }

  /**
   * Reversals that are none at the speed at which their campaign ran, which may be told after them: the tolerance is real time, and a
   * sandbox that is killed loses seconds of it.
   */
  excused(): ReadonlySet<LogViolation> {
    const excused = this.#reversals.filter(({ campaign: { rules, speed }, byMs }) => byMs <= rules.timing.clockToleranceMs * speed);
    for (const { byMs } of excused) this.#noteFall(byMs);
    return new Set(excused.map(({ violation }) => violation));
  }

  #noteFall(byMs: number): void {
    this.falls.count += 1;
    this.falls.mostMs = Math.max(this.falls.mostMs, byMs);
  }
}
