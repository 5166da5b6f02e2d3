import type { Mix } from './drive-campaign.ts';

/** A mix in which nothing goes wrong but what is given. */
export function quietMix(given: Pick<Mix, 'seed' | 'sandbox' | 'campaigns'> & Partial<Mix>): Mix {
  return {
    faults: [],
    hangs: [],
    strikes: [],
    sweepDuring: [],
    readOutage: null,
    inbound: [],
    wishes: [],
    redial: false,
    ...given,
  };
}
