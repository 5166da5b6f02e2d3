import type { Call } from '../state/call.ts';
import type { Talk } from '../state/talk.ts';

/** Holds the talks whose agent's words come from elsewhere, so that they cannot be known when the call is dialled. */
export interface LiveTalks {
  wants(call: Call): boolean;
  /** Never rejects: a talk in which no model answers is one that broke down. */
  hold(call: Call, answeredAt: number): Promise<Talk>;
  /** Ends a talk that is being held, at `at`, since it has lasted as long as it may. Returns what was said until then. */
  cutShort(call: Call, at: number): Talk;
}

export const noLiveTalks: LiveTalks = {
  wants: () => false,
  hold: () => Promise.reject(new Error('Nothing is installed that holds talks.')),
  cutShort: (_call, at) => ({ turns: [], endedAt: at, terminationReason: '', brokeDown: true }),
};
