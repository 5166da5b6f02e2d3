import { badge, type Tone } from '../../../presentation/html/elements.ts';
import type { Html } from '../../../presentation/html/html.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { Outcome } from '../../../rules/outcome.ts';
import type { CampaignRow } from '../../../ledger/read/campaign-rows.ts';

const states: Readonly<Record<Campaign['state'], readonly [Tone, string]>> = {
  importing: ['wait', 'Importing'],
  draft: ['quiet', 'Not started'],
  scheduled: ['wait', 'Scheduled'],
  running: ['live', 'Running'],
  paused: ['bad', 'Paused'],
  draining: ['wait', 'Draining'],
  completed: ['good', 'Completed'],
  cancelled: ['quiet', 'Cancelled'],
  failed: ['bad', 'Failed'],
};

export function stateBadge(state: Campaign['state']): Html {
  const [tone, word] = states[state];
  return badge(tone, word);
}

const outcomeTones: Readonly<Record<Outcome, readonly [Tone, string]>> = {
  completed: ['good', 'Completed'],
  exhausted: ['quiet', 'Exhausted'],
  opted_out: ['quiet', 'Opted out'],
  suppressed: ['quiet', 'Suppressed'],
  rejected: ['bad', 'Rejected'],
  undialable: ['bad', 'Undialable'],
  expired: ['quiet', 'Expired'],
  cancelled: ['quiet', 'Cancelled'],
  unresolved: ['bad', 'Unresolved'],
};

const stateTones: Readonly<Record<CampaignRow['state'], readonly [Tone, string]>> = {
  waiting: ['wait', 'Waiting'],
  open: ['live', 'Call open'],
  done: ['quiet', 'Ended'],
};

/** How a row stands: its outcome once it has one. */
export function rowBadge({ state, outcome }: Pick<CampaignRow, 'state' | 'outcome'>): Html {
  const [tone, word] = outcome === null ? stateTones[state] : outcomeTones[outcome];
  return badge(tone, word);
}

/** The name of an outcome as the page writes it. */
export function outcomeWord(outcome: Outcome): string {
  return outcomeTones[outcome][1];
}

export function rowStateWord(state: CampaignRow['state']): string {
  return stateTones[state][1];
}
