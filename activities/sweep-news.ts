import type { CampaignRules } from '../src/rules/campaign-rules.ts';

type Timing = CampaignRules['timing'];

/** Tells the collects of this process, alone, that one has read their agent's list: lines may be free. Others look at their own pace. */
export class SweepNews {
  readonly #next = new Map<string, AbortController>();

  /** Aborted when the list of this agent is next read. */
  next(agentId: string): AbortSignal {
    const known = this.#next.get(agentId) ?? new AbortController();
    this.#next.set(agentId, known);
    return known.signal;
  }

  /** The list was read and matched as a campaign with this timing does it. */
  tell(agentId: string, timing: Timing): void {
    const told = this.#next.get(agentId);
    this.#next.delete(agentId);
    told?.abort(JSON.stringify(timing));
  }
}

/** Whether what was told was read as a campaign with this timing would have: it need not read the list again so soon. */
export function isSameTiming({ aborted, reason }: AbortSignal, timing: Timing): boolean {
  return aborted && reason === JSON.stringify(timing);
}
