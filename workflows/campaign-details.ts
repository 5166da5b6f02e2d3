import type { CampaignCounters } from './messages.ts';

const waits: Readonly<Record<string, string>> = {
  scheduled: 'its start time',
  due: 'the next recipient to be due',
  capacity: 'open calls to end',
  share: 'lines of the account that other campaigns use',
  pacing: 'the next minute (starts_per_minute)',
  blocked: 'the service to allow requests again',
  canary: 'a first conversation',
  words: 'open calls with the same words to end',
  pilot: 'the pilot, and what is decided about it',
  caller_limit: 'caller numbers to have made fewer calls (caller_limits)',
  goal: 'talks that may come to the goal',
  paused: 'somebody to resume it',
  collecting: 'the last results',
  rows: 'rows that are added (stays_open)',
};

/** Text for Temporal's UI: ids and counts only, since it stays in the history. */
export function describeCampaign(counters: CampaignCounters): string {
  const { state, waitingFor, submitted, total, done, open, waiting, unresolved } = counters;
  const wait = waitingFor === null ? '' : `, waits for ${waits[waitingFor] ?? waitingFor}`;
  const lines = [`**${state}**${wait}`, `${submitted} batches submitted`];
  if (total > 0) lines.push(`${done} of ${total} done, ${open} calls open, ${waiting} waiting, ${unresolved} unresolved`);
  return lines.join('\n\n');
}
