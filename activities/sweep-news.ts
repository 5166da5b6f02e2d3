import type { CampaignRules } from '../src/rules/campaign-rules.ts';

type Timing = CampaignRules['timing'];

/** Wakes the collects of this process after a sweep of their agent's list, since lines may be free. Other processes poll. */
export class SweepNews {
  readonly #next = new Map<string, AbortController>();

  /** Aborted when this agent's list is next read. */
  next(agentId: string): AbortSignal {
    const known = this.#next.get(agentId) ?? new AbortController();
    this.#next.set(agentId, known);
    return known.signal;
  }

  /** The list was read and matched with this timing. */
  tell(agentId: string, timing: Timing): void {
    const controller = this.#next.get(agentId);
    this.#next.delete(agentId);
    controller?.abort(JSON.stringify(timing));
  }
}

/** True when that sweep used the same timing, so this campaign can skip its own. */
export function isSameTiming({ aborted, reason }: AbortSignal, timing: Timing): boolean {
  return aborted && reason === JSON.stringify(timing);
}
