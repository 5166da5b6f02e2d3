import { randomUUID } from 'node:crypto';
import { countRows } from './reads.ts';
import type { At, Queries, Tx } from './tx.ts';

/** An operator's request as the workflow received it; where and when decides which of two is later. */
export interface ControlRequest {
  /** The same when the request is repeated: after a lost answer, a reset of the workflow, or in its next run. */
  id: string;
  run: string;
  /** Number within this run, from 1. */
  number: number;
  /** Since receipt, in service milliseconds; 0 at the first try. */
  waitedMs: number;
  /** `countOwnPauses` at the operator's request, which may have waited for a worker before the workflow. Absent: unknown. */
  pausesSeen?: number;
}

export type ControlChange = 'pause' | 'resume' | 'drain' | 'cancel';

/** A change of state and its request; without one it was made here and now. */
interface RequestedChange extends At {
  change: ControlChange;
  wish?: ControlRequest | undefined;
}

/**
 * Grants a request if `work` says the state allows it; a repeat gets the same answer. A late pause or resume must not undo later changes.
 */
export async function grantControlRequest(tx: Tx, requestedChange: RequestedChange, work: () => Promise<boolean>): Promise<boolean> {
  const { campaignId, change, wish: request } = requestedChange;
  const known = await tx
    .selectFrom('wishes')
    .select('granted')
    .where('campaign_id', '=', campaignId)
    .where('wish_id', '=', request?.id ?? '')
    .executeTakeFirst();
  if (known !== undefined) return known.granted === 1;
  // Nothing undoes an end, so it may come late.
  const mayUndo = request !== undefined && (change === 'pause' || change === 'resume');
  const granted = !(mayUndo && (await isOvertaken(tx, requestedChange, request))) && (await work());
  await noteControlRequest(tx, requestedChange, granted);
  return granted;
}

/** Pauses without a workflow: by an operator in the database alone, or by the campaign itself. */
export async function countOwnPauses(db: Queries, campaignId: string): Promise<number> {
  const pauses = db.selectFrom('wishes').where('campaign_id', '=', campaignId).where('change', '=', 'pause');
  return countRows(pauses.where('granted', '=', 1).where('run', 'is', null));
}

/** Records a change that no caller waits for: earlier requests arriving late must not undo it. */
export async function noteControlRequest(
  tx: Tx,
  { campaignId, change, now, wish: request }: RequestedChange,
  granted = true,
): Promise<void> {
  await tx
    .insertInto('wishes')
    .values({
      campaign_id: campaignId,
      wish_id: request?.id ?? randomUUID(),
      change,
      granted: granted ? 1 : 0,
      granted_at: now,
      run: request?.run ?? null,
      number: request?.number ?? null,
    })
    .execute();
}

/**
 * Within a run requests are counted, and pauses in the database. Changes by another run or without a request are later if made while this
 * one waited; at the first try clocks do not count.
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
