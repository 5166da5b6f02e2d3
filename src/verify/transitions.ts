/** How a batch, and how a campaign may change. Written down anew: that the dialler allows a change is no reason to. */
const batchMoves: Readonly<Record<string, readonly string[]>> = {
  intent: ['posting', 'released'],
  posting: ['confirmed', 'refused', 'not_sent', 'unknown'],
  not_sent: ['posting', 'released', 'unknown'],
  unknown: ['confirmed', 'not_sent', 'refused', 'held'],
  held: ['confirmed', 'redial', 'given_up'],
  refused: ['unknown'],
  redial: ['confirmed'],
  given_up: ['confirmed'],
};

const campaignMoves: Readonly<Record<string, readonly string[]>> = {
  draft: ['scheduled', 'running'],
  scheduled: ['running', 'paused', 'draining', 'failed'],
  running: ['paused', 'draining', 'completed', 'failed'],
  paused: ['scheduled', 'running', 'draining', 'completed', 'failed'],
  draining: ['completed', 'cancelled', 'failed'],
  completed: ['scheduled', 'running'],
  cancelled: ['scheduled', 'running'],
  failed: ['scheduled', 'running'],
};

export function mayCampaignMove(from: string, to: string): boolean {
  return campaignMoves[from]?.includes(to) ?? false;
}

export function mayBatchMove(from: string, to: string): boolean {
  return batchMoves[from]?.includes(to) ?? false;
}
