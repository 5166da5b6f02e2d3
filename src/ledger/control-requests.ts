import { randomUUID } from 'node:crypto';
import { countRows } from './reads.ts';
import type { At, Queries, Tx } from './tx.ts';

/** A person's wish as the workflow was told it; where it was told, and when, says which of two is the later one. */
export interface ControlRequest {
  /** Stays the same when the wish comes again: after a lost answer, a reset of the workflow, or in its next run. */
  id: string;
  run: string;
  /** Which of the wishes, from 1, that this run was told. */
  number: number;
  /** Since it was told, in service milliseconds; 0 at its first try. */
  waitedMs: number;
  /** `countOwnPauses` when the person wished it: it may have waited for a worker before the workflow was told. Absent: not known. */
  pausesSeen?: number;
}

export type ControlChange = 'pause' | 'resume' | 'drain' | 'cancel';

/** A change of a campaign's state, and the wish behind it; without one it was made here and now. */
interface Wished extends At {
  change: ControlChange;
  wish?: ControlRequest | undefined;
}

/**
 * Grants a wish if `work` says that the state allowed it; the same wish again is answered as before. A late pause or resume must not undo
 * what was wished, or done by the campaign itself, since.
 */
export async function grantControlRequest(tx: Tx, wished: Wished, work: () => Promise<boolean>): Promise<boolean> {
  const { campaignId, change, wish } = wished;
  const known = await tx
    .selectFrom('wishes')
    .select('granted')
    .where('campaign_id', '=', campaignId)
    .where('wish_id', '=', wish?.id ?? '')
    .executeTakeFirst();
  if (known !== undefined) return known.granted === 1;
  // Nothing undoes an end, so it may come late.
  const mayUndo = wish !== undefined && (change === 'pause' || change === 'resume');
  const granted = !(mayUndo && (await isOvertaken(tx, wished, wish))) && (await work());
  await noteControlRequest(tx, wished, granted);
  return granted;
}

/** How many pauses the database has that no workflow was told: those of a person in it alone, and those of the campaign itself. */
export async function countOwnPauses(db: Queries, campaignId: string): Promise<number> {
  const pauses = db.selectFrom('wishes').where('campaign_id', '=', campaignId).where('change', '=', 'pause');
  return countRows(pauses.where('granted', '=', 1).where('run', 'is', null));
}

/** Notes a change for which nobody waits: what was wished before, and comes later, must not undo it. */
export async function noteControlRequest(tx: Tx, { campaignId, change, now, wish }: Wished, granted = true): Promise<void> {
  await tx
    .insertInto('wishes')
    .values({
      campaign_id: campaignId,
      wish_id: wish?.id ?? randomUUID(),
      change,
      granted: granted ? 1 : 0,
      granted_at: now,
      run: wish?.run ?? null,
      number: wish?.number ?? null,
    })
    .execute();
}

/**
 * Within a run wishes are counted, and pauses in the database. What another run was told, or nobody wished, is later if done while this one
 * waited; clocks have no say at the first try.
 */
async function isOvertaken(tx: Tx, { campaignId, now }: At, { run, number, waitedMs, pausesSeen }: ControlRequest): Promise<boolean> {
  if (pausesSeen !== undefined && (await countOwnPauses(tx, campaignId)) > pausesSeen) return true;
  const later = await tx
    .selectFrom('wishes')
    .select('wish_id')
    .where('campaign_id', '=', campaignId)
    .where('granted', '=', 1)
    .where((eb) =>
      eb.or([
        eb.and([eb('run', '=', run), eb('number', '>', number)]),
        ...(waitedMs === 0 ? [] : [eb.and([eb('granted_at', '>', now - waitedMs), eb.or([eb('run', 'is', null), eb('run', '!=', run)])])]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}
