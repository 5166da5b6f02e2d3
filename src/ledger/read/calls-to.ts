import { callingAttemptStates } from '../../rules/ledger.ts';
import { readInParts } from '../parts.ts';
import type { Queries } from '../tx.ts';

/** What is under way to some numbers, in all campaigns. */
export interface CallsTo {
  /** Rows that wait for a call, in campaigns that have not ended. */
  waiting: number;
  /** Calls that are planned and were not sent yet. */
  planned: number;
  open: number;
}

const going = ['scheduled', 'running', 'paused'] as const;

/** Counts what an entry of the do-not-call list for these numbers would stop, and what it would not. */
export async function countCallsTo(db: Queries, numbers: readonly string[]): Promise<CallsTo> {
  const waiting = await readInParts(numbers, (part) =>
    db
      .selectFrom('recipients')
      .innerJoin('campaigns', 'campaigns.campaign_id', 'recipients.campaign_id')
      .select('recipient_id')
      .where('e164', 'in', part)
      .where('recipients.state', '=', 'waiting')
      .where('campaigns.state', 'in', going)
      .execute(),
  );
  const calls = await readInParts(numbers, (part) =>
    db
      .selectFrom('attempts')
      .select('state')
      .where('e164', 'in', part)
      .where('state', 'in', ['planned', ...callingAttemptStates])
      .execute(),
  );
  const planned = calls.filter(({ state }) => state === 'planned').length;
  return { waiting: waiting.length, planned, open: calls.length - planned };
}
