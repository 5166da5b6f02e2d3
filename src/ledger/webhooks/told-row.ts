import { requestedAttemptStates } from '../../rules/ledger.ts';
import type { Queries } from '../tx.ts';

/** A row as webhooks are told of it: no number, no name. */
export interface ToldRow {
  row: number;
  id: string | null;
  /** Calls that were requested for it by then. */
  attempts: number;
}

/** The row of a recipient as it was at the event of this number, so that a repeated message says the same; null: there is none. */
export async function readToldRow(db: Queries, recipientId: string, untilSeq: number): Promise<ToldRow | null> {
  const found = await db
    .selectFrom('recipients')
    .select(['row_number', 'external_id'])
    .where('recipient_id', '=', recipientId)
    .executeTakeFirst();
  if (found === undefined) return null;
  const posted = db
    .selectFrom('events')
    .select('attempt_id')
    .where('recipient_id', '=', recipientId)
    .where('seq', '<=', untilSeq)
    .where('type', '=', 'attempt.posted');
  const { attempts } = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.countAll<number>().as('attempts'))
    .where('recipient_id', '=', recipientId)
    .where('state', 'in', requestedAttemptStates)
    .where('attempt_id', 'in', posted)
    .executeTakeFirstOrThrow();
  return { row: found.row_number, id: found.external_id, attempts };
}
