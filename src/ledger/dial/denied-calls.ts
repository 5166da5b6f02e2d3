import { refusalDoubtMs } from '../doubt/open-batches.ts';
import { readDoubts } from '../doubt/doubts.ts';
import { readRulesOf } from '../doubt/correlation-rows.ts';
import { findEvidenceFor } from './evidence.ts';
import { attemptsOf } from '../reads.ts';
import type { Queries, Tx } from '../tx.ts';
import { countAsUnknown } from './verdicts.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** A batch to resend whose earlier POST was answered, and so may have been carried out. */
export async function findDeniedBatch(db: Queries, batchId: string): Promise<{ campaign_id: string } | undefined> {
  return db
    .selectFrom('batches')
    .innerJoin('posts', 'posts.batch_id', 'batches.batch_id')
    .select('batches.campaign_id')
    .where('batches.batch_id', '=', batchId)
    .where('batches.state', '=', 'not_sent')
    .where('posts.status', 'is not', null)
    .where('posts.absent_at', 'is', null)
    .executeTakeFirst();
}

/** When records are checked, and as of when the list is known (see `PostingInput`). */
interface DenialCheck {
  now: number;
  listReadAt?: number | null | undefined;
}

export type PlacementFinding = 'placed' | 'undecided' | 'nothing';

/**
 * If a record shows, or may hide, a call of a denied batch, the batch becomes `unknown`. Call this before resending or giving back a posted
 * batch.
 */
export async function countAsPlacedIfSeen(tx: Tx, batch: BatchRow, check: DenialCheck): Promise<PlacementFinding> {
  const { now } = check;
  if (batch.posts === 0 || batch.state !== 'not_sent') return 'nothing';
  const attempts = await attemptsOf(tx, batch.batch_id, ['planned']);
  const seen = (await findEvidenceFor(tx, batch, attempts)) !== null ? 'placed' : await evaluateDoubts(tx, batch, { attempts, ...check });
  if (seen !== 'placed') return seen;
  return (await countAsUnknown(tx, batch, { from: ['not_sent'], now })) ? 'placed' : 'nothing';
}

/** A request that never reached the service has no record. */
async function evaluateDoubts(
  tx: Tx,
  batch: BatchRow,
  { attempts, now, listReadAt = now }: DenialCheck & { attempts: readonly AttemptRow[] },
): Promise<PlacementFinding> {
  const [first] = attempts;
  if (first === undefined || (await findDeniedBatch(tx, batch.batch_id)) === undefined) return 'nothing';
  const { timing } = await readRulesOf(tx, batch.campaign_id);
  const doubts = [...(await readDoubts(tx, first.agent_id, { attempts, timing, now })).values()];
  if (doubts.some(({ candidates }) => candidates.length > 0)) return 'placed';
  // Calls placed all the same are listed late, and only if the list is read.
  const isEarly = (listReadAt ?? -Infinity) < (batch.verdict_at ?? 0) + refusalDoubtMs;
  return isEarly || doubts.some(({ undecided }) => undecided) ? 'undecided' : 'nothing';
}
