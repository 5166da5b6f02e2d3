import { acceptedLate, carriedOutTwice } from '../../rules/disposition.ts';
import { callingAttemptStates } from '../../rules/ledger.ts';
import type { LostRequestOutcome } from '../../rules/correlation/call-report.ts';
import { moveBatch } from '../rows/release.ts';
import { findEvidenceFor } from '../dial/evidence.ts';
import { applyRefusal } from '../dial/refusal.ts';
import { confirmBatch, countAsUnknown, releaseAsAbsent } from '../dial/verdicts.ts';
import { readDoubts } from '../doubt/doubts.ts';
import { readAgent } from '../doubt/correlation-rows.ts';
import { keyLookUpMs } from '../doubt/dial-guard.ts';
import { refusalDoubtMs, wantSweep } from '../doubt/open-batches.ts';
import { readAccount } from '../limits/account-pace.ts';
import { lockBatch } from '../locks.ts';
import { attemptsOf } from '../reads.ts';
import { changeCampaignState, requireCampaign } from '../rows/campaigns.ts';
import { settleAsUnknown } from '../rows/settle.ts';
import type { Queries, Tx } from '../tx.ts';
import { updateAttempt, updateBatch } from '../updates.ts';
import type { BatchRow } from '../schema.ts';
import { hold } from './conclude.ts';
import { attemptNamedBy } from '../../rules/ids.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { readInParts } from '../parts.ts';

/** Gap between the two whole-list look-ups that must miss a request. */
const secondLookUpMs = 60_000;

/** Its answer is unknown or unreliable. */
export interface LostRequest {
  batchId: string;
  /** Its name at the service. */
  mark: string;
  callerId: string;
  /** Earliest possible arrival (service time). */
  since: number;
  /** When its result was known; null: unknown. */
  answeredAt: number | null;
}

/**
 * Last requests of batches that are unknown, refused for their calls, or known by a record alone: without a service id there are no
 * reports.
 */
export async function findLostRequests(db: Queries, agentId: string): Promise<LostRequest[]> {
  return toLost(
    await requests(db)
      .innerJoin('campaigns', 'campaigns.campaign_id', 'batches.campaign_id')
      .where('campaigns.agent_id', '=', agentId)
      .where((eb) =>
        eb.or([
          eb('batches.state', 'in', ['unknown', 'refused']),
          eb.and([eb('batches.state', '=', 'confirmed'), eb('batches.service_batch_id', 'is', null)]),
        ]),
      )
      .whereRef('posts.k', '=', 'batches.posts')
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('attempts')
            .select('attempts.attempt_id')
            .whereRef('attempts.batch_id', '=', 'batches.batch_id')
            .where('attempts.state', 'in', callingAttemptStates),
        ),
      )
      .orderBy('batches.batch_id')
      .execute(),
  );
}

/** Answered requests that the service denies, unless that is certain. */
export async function findDeniedRequests(db: Queries, batchId: string): Promise<LostRequest[]> {
  const denied = requests(db).where('batches.batch_id', '=', batchId).where('batches.state', '=', 'not_sent');
  return toLost(await denied.where('posts.status', 'is not', null).where('posts.absent_at', 'is', null).orderBy('posts.k').execute());
}

/** As `findDeniedRequests`, for given-back batches with waiting recipients and a service that answers with certainty. */
export async function findGivenBack(db: Queries, agentId: string, now: number): Promise<LostRequest[]> {
  return toLost(
    await requests(db)
      .innerJoin('campaigns', 'campaigns.campaign_id', 'batches.campaign_id')
      .where('campaigns.agent_id', '=', agentId)
      .where('campaigns.state', '=', 'running')
      .where('batches.state', 'in', ['released', 'refused'])
      .where('posts.status', 'is not', null)
      .where('posts.verdict', 'in', ['not_sent', 'refused'])
      .where('posts.absent_at', 'is', null)
      .where('posts.verdict_at', '>', now - keyLookUpMs)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('attempts')
            .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
            .select('attempts.attempt_id')
            .whereRef('attempts.batch_id', '=', 'batches.batch_id')
            .where('attempts.state', '=', 'released')
            .where('recipients.outcome', 'is', null),
        ),
      )
      .orderBy('batches.batch_id')
      .orderBy('posts.k')
      .execute(),
  );
}

function requests(db: Queries) {
  return db
    .selectFrom('batches')
    .innerJoin('posts', 'posts.batch_id', 'batches.batch_id')
    .select(['batches.batch_id', 'batches.caller', 'posts.entry', 'posts.posted_at', 'posts.service_from'])
    .select('posts.verdict_at');
}

type RequestRow = Awaited<ReturnType<ReturnType<typeof requests>['execute']>>[number];

function toLost(rows: readonly RequestRow[]): LostRequest[] {
  return rows.flatMap(
    ({ batch_id: batchId, caller: callerId, entry: mark, posted_at: postedAt, service_from: from, verdict_at: answeredAt }) =>
      mark === null ? [] : [{ batchId, mark, callerId, since: Math.min(from ?? postedAt, postedAt), answeredAt }],
  );
}

/** How long a list may lag. `provenLagMs`: as in `LookUp`. */
export function listPatienceMs(provenLagMs: number | null): number {
  return provenLagMs === null ? secondLookUpMs : 3 * provenLagMs;
}

export interface LookUp {
  mark: string;
  found: LostRequestOutcome;
  begunAt: number;
  now: number;
  /** Lag of the list measured by `doctor --prove-lookup`; null: not measured. */
  provenLagMs: number | null;
}

/**
 * Found confirms the batch, certainly absent requeues, found twice pauses the campaign. Missed twice after the arrival window: requeues if
 * proven, else an operator decides.
 */
export async function applyLookUp(tx: Tx, batchId: string, lookUp: LookUp): Promise<void> {
  const batch = await lockBatch(tx, batchId);
  const { found, now } = lookUp;
  if (found.kind === 'accepted') {
    const { serviceBatchId } = found;
    await confirmBatch(tx, batch, { acceptedBy: 'look_up', serviceBatchId, now });
    if (batch.state === 'released' || batch.state === 'refused') await takeAsCarriedOut(tx, batch, { serviceBatchId, now });
  } else if (found.kind === 'several') await stopTwice(tx, batch, now);
  else if (found.kind === 'absent') {
    const isDenied = batch.state !== 'confirmed';
    if (found.certain && isDenied) await noteAbsent(tx, batchId, lookUp);
    await takeAbsence(tx, batch, { ...lookUp, certain: found.certain });
  }
}

/** The service took calls that it had denied: settles them, so that no second call is placed. */
async function takeAsCarriedOut(tx: Tx, batch: BatchRow, { serviceBatchId, now }: { serviceBatchId: string; now: number }): Promise<void> {
  const { batch_id: batchId, campaign_id: campaignId } = batch;
  const released = await attemptsOf(tx, batchId, ['released']);
  const attemptIds = released.flatMap((row) => (row.posted_at === null || row.evidence !== null ? [] : [row.attempt_id]));
  await updateBatch(tx, batchId, { service_batch_id: serviceBatchId });
  for (const attemptId of attemptIds) await updateAttempt(tx, attemptId, { state: 'settled', reason: null, settled_at: now });
  await settleAsUnknown(tx, { campaignId, now }, { attemptIds, detail: acceptedLate });
}

/** From here on only a record that names a call of the request proves it. */
async function noteAbsent(tx: Tx, batchId: string, { mark, now }: Pick<LookUp, 'mark' | 'now'>): Promise<void> {
  await tx.updateTable('posts').set({ absent_at: now }).where('batch_id', '=', batchId).where('entry', '=', mark).execute();
}

async function takeAbsence(tx: Tx, batch: BatchRow, { begunAt, now, provenLagMs, certain }: LookUp & { certain: boolean }): Promise<void> {
  if (batch.state !== 'unknown' && batch.state !== 'refused') return;
  const { rules, accountId } = await requireCampaign(tx, batch.campaign_id);
  if (!certain) {
    // A clock step makes the sending time uncertain: the arrival window restarts.
    const { steppedAt } = await readAccount(tx, accountId);
    const [sentOver, arrivesWithinMs] =
      batch.state === 'unknown'
        ? [batch.hold_after ?? Infinity, rules.timing.lateDeliveryMs]
        : [(batch.verdict_at ?? 0) + refusalDoubtMs, refusalDoubtMs];
    const overAt = Math.max(sentOver, steppedAt + arrivesWithinMs);
    const isOver = begunAt > overAt;
    if (!isOver) return;
    const { not_found_at: since, batch_id: batchId } = batch;
    if (since === null || since <= overAt) return updateBatch(tx, batchId, { not_found_at: begunAt });
    if (begunAt < since + Math.max(secondLookUpMs, listPatienceMs(provenLagMs))) return;
    // Sweeps back to the request: its records may be listed below known ones.
    const backTo = (batch.first_posted_at ?? 0) - rules.timing.clockToleranceMs;
    const agent = await readAgent(tx, rules.agentId);
    const isSwept = (agent?.swept_begun_at ?? 0) > overAt && (agent?.swept_from ?? Infinity) <= backTo;
    if (!isSwept) return wantSweep(tx, batch.campaign_id, backTo);
    // An unread record may belong to any call.
    const unread = tx.selectFrom('conversations').select('conversation_id').where('agent_id', '=', rules.agentId);
    const isOpen = unread.where('attempt_id', 'is', null).where('final', '=', 0).where('gone', '=', 0).where('first_seen_at', '>=', backTo);
    if ((await isOpen.limit(1).executeTakeFirst()) !== undefined) return;
  }
  const missing = await attemptsOf(tx, batch.batch_id, callingAttemptStates);
  const evidence = await findEvidenceFor(tx, batch, missing);
  // Such a record outranks any list and soon settles its call.
  if (evidence === 'named') return;
  if (batch.state === 'refused') {
    if (evidence === null) return applyRefusal(tx, batch, now);
    await countAsUnknown(tx, batch, { from: ['refused'], now });
    return;
  }
  if (evidence === null && (certain || provenLagMs !== null)) return releaseAsAbsent(tx, batch, now);
  const doubts = await readDoubts(tx, rules.agentId, { attempts: missing, timing: rules.timing, now });
  await hold(tx, { batch, rules, reported: true, missing, doubts, now }, 'not_listed');
}

/** The service has the batch twice: how often it calls is unknown. */
async function stopTwice(tx: Tx, batch: BatchRow, now: number): Promise<void> {
  const detail = carriedOutTwice;
  const changes = { reason: detail, verdict_at: now };
  // The request stored at the service outranks its denial.
  if (batch.state === 'not_sent' || batch.state === 'refused') await countAsUnknown(tx, batch, { from: ['not_sent', 'refused'], now });
  if (!(await moveBatch(tx, batch, { from: ['unknown'], event: { state: 'held' }, now, changes }))) return;
  const at = { campaignId: batch.campaign_id, now };
  const open = await attemptsOf(tx, batch.batch_id, callingAttemptStates);
  await settleAsUnknown(tx, at, { attemptIds: open.map((attempt) => attempt.attempt_id), detail });
  await changeCampaignState(tx, at, { to: 'paused', reason: twiceReason(batch.n) });
}

/** A batch and all service ids made from its request. */
export interface MadeTwice {
  batchId: string;
  serviceBatchIds: string[];
}

/** Pauses a campaign once per batch duplicated by the service: a record names our call under another batch. See `dial-guard.ts`. */
export async function findMadeTwice(tx: Tx, agentId: string, { since, now }: { since: number; now: number }): Promise<MadeTwice[]> {
  const rows = await tx
    .selectFrom('conversations')
    .select('facts')
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('reads', '>', 0)
    .where('gone', '=', 0)
    .where((eb) => eb.or([eb('started_at', 'is', null), eb('started_at', '>=', since)]))
    .execute();
  const others = new Map<string, string>();
  for (const row of rows) {
    const { batchId, references } = JSON.parse(row.facts) as ConversationFacts;
    const named = references.filter((reference) => attemptNamedBy(reference) !== null);
    // Assigned to another call by a report, a record carries both references.
    if (batchId !== null && named.length === 1) others.set(named[0] ?? '', batchId);
  }
  const attemptIds = [...others.keys()].flatMap((reference) => attemptNamedBy(reference) ?? []);
  const attempts = await readInParts(attemptIds, (part) =>
    tx
      .selectFrom('attempts')
      .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
      .select(['attempts.reference', 'batches.batch_id', 'batches.service_batch_id', 'batches.campaign_id', 'batches.n'])
      .where('attempts.attempt_id', 'in', part)
      .where('batches.service_batch_id', 'is not', null)
      .where((eb) => eb.or([eb('batches.reason', 'is', null), eb('batches.reason', '!=', carriedOutTwice)]))
      .execute(),
  );
  const twice = new Map<string, MadeTwice>();
  for (const { reference, batch_id: batchId, service_batch_id: own, campaign_id: campaignId, n } of attempts) {
    const other = others.get(reference ?? '');
    if (other === undefined || own === null || other === own) continue;
    const known = twice.get(batchId);
    if (known !== undefined) {
      if (!known.serviceBatchIds.includes(other)) known.serviceBatchIds.push(other);
      continue;
    }
    twice.set(batchId, { batchId, serviceBatchIds: [own, other] });
    await updateBatch(tx, batchId, { reason: carriedOutTwice });
    await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason: twiceReason(n) });
  }
  return [...twice.values()];
}

export function twiceReason(n: number): string {
  return `The service has the request for batch ${n} more than once. Look there which of its calls were made, decide about its rows, then resume.`;
}
