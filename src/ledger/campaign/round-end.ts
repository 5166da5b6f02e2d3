import { callsAmong } from '../../rules/disposition.ts';
import { readStatus } from './campaign-status.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { findRoundRow } from '../reads.ts';
import type { Queries } from '../tx.ts';

/** How a round ended: counts only, nothing of a recipient. Instants are service time. */
export interface RoundEnd {
  state: 'completed' | 'cancelled';
  rows: number;
  /** Rows by outcome, over all rounds. */
  outcomes: Record<string, number>;
  /** Calls by disposition, over all rounds. */
  calls: Record<string, number>;
  startedAt: number;
  endedAt: number;
}

export async function readRoundEnd(db: Queries, campaign: Campaign, round: number): Promise<RoundEnd> {
  const { campaignId, state } = campaign;
  const row = await findRoundRow(db, { campaignId, round });
  if (row === undefined) throw new Error('a round that has ended is not in the database');
  const { total, outcomes, dispositions } = await readStatus(db, campaign);
  return {
    state: state === 'cancelled' ? 'cancelled' : 'completed',
    rows: total,
    outcomes: withoutZeros(outcomes),
    calls: withoutZeros(callsAmong(dispositions)),
    startedAt: row.started_at,
    endedAt: row.ended_at ?? row.started_at,
  };
}

function withoutZeros(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
