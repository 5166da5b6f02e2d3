import { badge, type Tone } from '../../html/elements.ts';
import type { Html } from '../../html/html.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';

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
