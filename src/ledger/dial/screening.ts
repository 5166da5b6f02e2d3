import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { unsentStates } from '../../rules/ledger.ts';
import { evaluateScreening, needsScreening, writeScreening, type ScreeningVerdict } from '../../rules/attempts/screening.ts';
import { changeCampaignState, requireCampaign, type Campaign } from '../rows/campaigns.ts';
import { countAsPlacedIfSeen } from './denied-calls.ts';
import { appendEvents } from '../events.ts';
import { groupBy } from '../../rules/collections.ts';
import { lockBatch } from '../locks.ts';
import { findBatch } from '../reads.ts';
import type { Queries, Store } from '../tx.ts';
import { releaseBatch, type Release } from '../rows/release.ts';
import { updateBatch } from '../updates.ts';
import type { AttemptRow } from '../schema.ts';

/** Silence of the pre-dial hook, in service time, that pauses the campaign. */
export const longestSilenceMs = 15 * 60_000;

function screenedOf({ screened, screened_at: screenedAt }: AttemptRow) {
  return { screened, screenedAt };
}

export interface UnscreenedBatch {
  campaign: Campaign;
  preDial: NonNullable<CampaignRules['preDial']>;
  calls: { attemptId: string; e164: string; externalId: string | null; row: number }[];
}

/** Recipients of an unsent batch for the pre-dial hook to check; null: none. */
export async function findUnscreened(db: Queries, batchId: string, now: number): Promise<UnscreenedBatch | null> {
  const batch = await findBatch(db, batchId);
  if (batch === undefined || !unsentStates.includes(batch.state)) return null;
  const campaign = await requireCampaign(db, batch.campaign_id);
  const { preDial } = campaign.rules;
  if (preDial === null || campaign.state !== 'running') return null;
  const attempts = await db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .selectAll('attempts')
    .select(['recipients.row_number', 'recipients.external_id'])
    .where('attempts.batch_id', '=', batchId)
    .where('attempts.state', '=', 'planned')
    .orderBy('attempts.position')
    .execute();
  // The hook checks a batch as a whole.
  if (!attempts.some((attempt) => needsScreening(screenedOf(attempt), now))) return null;
  const calls = attempts.map((attempt) => ({
    attemptId: attempt.attempt_id,
    e164: attempt.e164,
    externalId: attempt.external_id,
    row: attempt.row_number,
  }));
  return { campaign, preDial, calls };
}

/** For a batch still to be sent. `askedAt`: when the hook was called (service time). */
export async function storeScreening(
  store: Store,
  input: { batchId: string; askedAt: number; verdicts: ReadonlyMap<string, ScreeningVerdict> },
): Promise<void> {
  const { batchId, askedAt, verdicts } = input;
  await store.transaction(async (tx) => {
    const batch = await lockBatch(tx, batchId);
    if (!unsentStates.includes(batch.state)) return;
    const groups = groupBy(verdicts, ([, verdict]) => writeScreening(verdict, askedAt));
    const idsOf = (screened: string) => (groups.get(screened) ?? []).map(([attemptId]) => attemptId);
    for (const screened of groups.keys()) {
      await tx
        .updateTable('attempts')
        .set({ screened, screened_at: askedAt })
        .where('batch_id', '=', batchId)
        .where('attempt_id', 'in', idsOf(screened))
        // Of two processes the later call has the newer answer.
        .where((eb) => eb.or([eb('screened_at', 'is', null), eb('screened_at', '<=', askedAt)]))
        .execute();
    }
    if (batch.silent_since !== null) await updateBatch(tx, batchId, { silent_since: null });
    const count = (kind: ScreeningVerdict['kind']): number => [...verdicts.values()].filter((verdict) => verdict.kind === kind).length;
    const counts = { asked: verdicts.size, refused: count('refused'), later: count('later') };
    const data = { ...counts, eligible: idsOf('eligible') };
    await appendEvents(tx, [{ at: askedAt, campaignId: batch.campaign_id, type: 'batch.screened', batchId, data }]);
  });
}

/**
 * The batch waits; after `longestSilenceMs` it is given back and the campaign pauses with `evidence` and `place`. True: nothing left to
 * wait for.
 */
export async function noteSilentHook(
  store: Store,
  input: { batchId: string; now: number; place: string; evidence: string; fault: string },
): Promise<boolean> {
  const { batchId, now, place, evidence, fault } = input;
  return store.transaction(async (tx) => {
    const batch = await lockBatch(tx, batchId);
    if (!unsentStates.includes(batch.state)) return true;
    const campaignId = batch.campaign_id;
    const since = batch.silent_since;
    if (since === null) {
      await updateBatch(tx, batchId, { silent_since: now });
      const data = { hook: 'pre_dial', fault } as const;
      await appendEvents(tx, [{ at: now, campaignId, type: 'hook.failed', batchId, data }]);
      return false;
    }
    if (now - since < longestSilenceMs) return false;
    if ((await countAsPlacedIfSeen(tx, batch, { now })) === 'placed') return true;
    await releaseBatch(tx, batch, { reason: 'pre_dial_silent', now });
    const minutes = Math.floor((now - since) / 60_000);
    const reason = `The pre-dial hook has given no usable answer for ${minutes} min (${place}; the last time: ${evidence}). Without one nobody is called. Fix it, then resume.`;
    await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason });
    return true;
  });
}

/** Why the hook keeps an attempt from being dialled, and what follows; null: it does not. */
export function screeningRelease(rules: CampaignRules, attempt: AttemptRow, now: number): Pick<Release, 'reason' | 'next'> | null {
  if (rules.preDial === null) return null;
  const stand = evaluateScreening(screenedOf(attempt), now);
  switch (stand.kind) {
    case 'dial':
      return null;
    case 'refused':
      return { reason: stand.reason, next: { kind: 'finish', outcome: 'undialable', reason: stand.reason } };
    case 'later':
      return { reason: 'pre_dial_later', next: { kind: 'requeue', dueAt: stand.until } };
    case 'unasked':
      return { reason: 'not_screened', next: { kind: 'requeue', dueAt: now } };
  }
}

export function screenedMark({ preDial }: CampaignRules, { screened }: AttemptRow): { screened?: string | null } {
  return preDial === null ? {} : { screened };
}

/** Since when the pre-dial hook has not answered about the batch to be sent (service time); null: no batch waits. */
export async function silentHookSince(db: Queries, { campaignId }: Campaign): Promise<number | null> {
  const row = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.min('silent_since').as('since'))
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', unsentStates)
    .executeTakeFirst();
  return row?.since ?? null;
}
