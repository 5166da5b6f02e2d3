import { refusalDoubtMs } from '../doubt/open-batches.ts';
import { readDoubts } from '../doubt/doubts.ts';
import { readRulesOf } from '../doubt/correlation-rows.ts';
import { findEvidenceFor } from './evidence.ts';
import { attemptsOf } from '../reads.ts';
import type { Queries, Tx } from '../tx.ts';
import { countAsUnknown } from './verdicts.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** A batch to be sent again although the service answered an earlier POST of it, which may have been carried out; else undefined. */
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

/** When records are asked, and as of when the list is known (see `PostingInput`). */
interface Look {
  now: number;
  listReadAt?: number | null | undefined;
}

export type Seen = 'placed' | 'undecided' | 'nothing';

/**
 * A stored record shows, or may hide, a call of a batch that the service denied: the batch counts as placed and becomes `unknown`. Ask
 * before a posted batch is sent again or given back.
 */
export async function countAsPlacedIfSeen(tx: Tx, batch: BatchRow, look: Look): Promise<Seen> {
  const { now } = look;
  if (batch.posts === 0 || batch.state !== 'not_sent') return 'nothing';
  const attempts = await attemptsOf(tx, batch.batch_id, ['planned']);
  const seen = (await findEvidenceFor(tx, batch, attempts)) !== null ? 'placed' : await judgeDoubts(tx, batch, { attempts, ...look });
  if (seen !== 'placed') return seen;
  return (await countAsUnknown(tx, batch, { from: ['not_sent'], now })) ? 'placed' : 'nothing';
}

/** Of a request that never reached the service there is no record. */
async function judgeDoubts(
  tx: Tx,
  batch: BatchRow,
  { attempts, now, listReadAt = now }: Look & { attempts: readonly AttemptRow[] },
): Promise<Seen> {
  const [first] = attempts;
  if (first === undefined || (await findDeniedBatch(tx, batch.batch_id)) === undefined) return 'nothing';
  const { timing } = await readRulesOf(tx, batch.campaign_id);
  const doubts = [...(await readDoubts(tx, first.agent_id, { attempts, timing, now })).values()];
  if (doubts.some(({ candidates }) => candidates.length > 0)) return 'placed';
  // The records of calls that were made all the same are not listed at once, and tell nothing unless the list is read.
  const isEarly = (listReadAt ?? -Infinity) < (batch.verdict_at ?? 0) + refusalDoubtMs;
  return isEarly || doubts.some(({ undecided }) => undecided) ? 'undecided' : 'nothing';
}
