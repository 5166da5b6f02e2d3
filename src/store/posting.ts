import type { Selectable } from 'kysely';
import { judgeEligibility } from '../domain/eligibility.ts';
import { calendarsFor, type RecipientPlace } from '../domain/legal-hours.ts';
import { unsentStates, type BatchState } from '../domain/ledger.ts';
import { readCallersOut } from './callers.ts';
import { readBudgets } from './attempt-budgets.ts';
import { budgetedOf, placeOf } from './candidates.ts';
import { toCampaign, type Campaign } from './campaigns.ts';
import { countAsPlacedIfSeen, settleDeniedCalls } from './denied-calls.ts';
import { appendEvents, type NewEvent } from './events.ts';
import { lockBatch, type Queries, type Store } from './open-store.ts';
import { releaseAttempts, releaseBatch, type Release } from './release.ts';
import { lockPeople, readCaps } from './placed-calls.ts';
import { blockedUntil } from './safety.ts';
import type { Database } from './schema.ts';
import { screenedMark, screeningRelease } from './screening.ts';
import { findSuppressed } from './suppressions.ts';
import { enterUnknown, holdAccount } from './verdicts.ts';

/** A batch that could not be sent for this long, in service time, is given back to the planner. */
export const longestSubmitMs = 15 * 60_000;

const pauseAfterReleaseMs = 60_000;

export interface PostingCall {
  attemptId: string;
  e164: string;
  cells: string[];
  openingLine: string | null;
  reference: string | null;
}

export type PostingStep =
  /** `posting` is committed: this caller, and no other, may make POST number `k` before `deadlineReal`. */
  | { kind: 'post'; campaign: Campaign; k: number; deadlineReal: number; caller: string; calls: PostingCall[] }
  /** The batch has its verdict; nothing may be sent. */
  | { kind: 'verdict'; state: BatchState }
  /** Nothing was sent; ask again at `until` (service time). */
  | { kind: 'blocked'; until: number };

export interface PostingInput {
  batchId: string;
  /** Service time. */
  now: number;
  nowReal: number;
  /** How long after `posting` is committed the POST may still begin; real milliseconds. */
  postingWindowMs: number;
  /** How long the client waits for an answer once the POST has begun; real milliseconds. */
  httpTimeoutMs: number;
  /** Service milliseconds per real millisecond. */
  speed: number;
}

type AttemptRow = Selectable<Database['attempts']>;

/** What the log has to tell of a call for the judge to know when it might be placed. */
type CallTerms = RecipientPlace & { zones: string[]; notBefore: number | null; expiresAt: number | null };

interface Sorted {
  dial: { attempt: AttemptRow; cells: string; terms: CallTerms }[];
  releases: Release[];
}

async function sortAttempts(tx: Queries, store: Store, campaign: Campaign, input: PostingInput): Promise<Sorted> {
  const { rules } = campaign;
  const { batchId, now } = input;
  const attempts = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('batch_id', '=', batchId)
    .where('state', 'in', ['planned', 'posting'])
    .orderBy('position')
    .execute();
  if (attempts.length === 0) return { dial: [], releases: [] };
  const ids = attempts.map((attempt) => attempt.recipient_id);
  const numbers = attempts.map((attempt) => attempt.e164);
  const recipients = await tx.selectFrom('recipients').selectAll().where('recipient_id', 'in', ids).execute();
  const byId = new Map(recipients.map((row) => [row.recipient_id, row]));
  const reached = await tx
    .selectFrom('attempts')
    .select(['recipient_id', 'disposition'])
    .where('recipient_id', 'in', ids)
    .where('disposition', 'in', ['answered', 'opted_out'])
    .execute();
  const reachedAs = new Map(reached.map((row) => [row.recipient_id, row.disposition]));
  const suppressed = await findSuppressed(tx, campaign.campaignId, numbers, now);
  await lockPeople(tx, store, rules.caps, attempts);
  const callees = attempts.flatMap(({ recipient_id: id, e164, person }) => {
    const recipient = byId.get(id);
    return recipient === undefined ? [] : [{ e164, person, place: placeOf(recipient) }];
  });
  const capsAllowAt = await readCaps(tx, rules, callees, now);
  const budgetAllowsAt = await readBudgets(tx, rules.retry, recipients.map(budgetedOf), now);
  const sorted: Sorted = { dial: [], releases: [] };
  for (const attempt of attempts) {
    const recipient = byId.get(attempt.recipient_id);
    if (recipient === undefined) continue;
    const release = (reason: string, next: Release['next']) =>
      sorted.releases.push({ attemptId: attempt.attempt_id, recipientId: attempt.recipient_id, reason, next });
    const earlier = reachedAs.get(attempt.recipient_id);
    if (earlier != null) {
      const outcome = earlier === 'opted_out' ? 'opted_out' : 'completed';
      release('already_reached', { kind: 'finish', outcome, reason: 'reached_by_earlier_attempt' });
      continue;
    }
    const zones = JSON.parse(recipient.zones) as string[];
    const place = placeOf(recipient);
    const terms = { ...place, zones, notBefore: recipient.not_before, expiresAt: recipient.expires_at };
    const verdict = judgeEligibility({
      at: now,
      endsAt: rules.endsAt,
      rowEndsAt: recipient.expires_at,
      rowStartsAt: recipient.not_before,
      calendars: calendarsFor(rules, place),
      zones,
      marginMs: rules.timing.dispatchMarginMs,
      suppressed: suppressed.has(attempt.e164),
      // The unique index of open attempts has this one as the number's only one.
      numberBusy: false,
      capsAllowAt: capsAllowAt({ ...attempt, place }),
      budgetAllowsAt: budgetAllowsAt(budgetedOf(recipient)),
      attempted: recipient.tier === 0,
    });
    const screening = screeningRelease(rules, attempt, now);
    if (verdict.verdict === 'dial' && screening !== null) release(screening.reason, screening.next);
    else if (verdict.verdict === 'dial') sorted.dial.push({ attempt, cells: recipient.cells, terms });
    else if (verdict.verdict === 'final')
      release(verdict.reason, { kind: 'finish', outcome: verdict.outcome, reason: verdict.reason });
    else release(verdict.reason, { kind: 'requeue', dueAt: verdict.until });
  }
  return sorted;
}

/** Rolls the dial transaction back: another caller has entered the batch before. */
class AlreadyEntered extends Error {}

async function releaseWholeBatch(
  tx: Queries,
  store: Store,
  batch: Selectable<Database['batches']>,
  reason: string,
  now: number,
): Promise<PostingStep> {
  if (!(await releaseBatch(tx, store, batch, reason, now))) throw new AlreadyEntered();
  return { kind: 'verdict', state: 'released' };
}

async function verdictNow(tx: Queries, batchId: string): Promise<Extract<PostingStep, { kind: 'verdict' }>> {
  const { state } = await tx
    .selectFrom('batches')
    .select('state')
    .where('batch_id', '=', batchId)
    .executeTakeFirstOrThrow();
  return { kind: 'verdict', state };
}

async function enter(tx: Queries, store: Store, input: PostingInput): Promise<PostingStep> {
  const { batchId, now } = input;
  const batch = await lockBatch(tx, store, batchId);
  if (await countAsPlacedIfSeen(tx, store, batch, now)) return verdictNow(tx, batchId);
  const row = await tx
    .selectFrom('campaigns')
    .selectAll()
    .where('campaign_id', '=', batch.campaign_id)
    .executeTakeFirstOrThrow();
  const campaign = toCampaign(row);
  if (campaign.state !== 'running') return releaseWholeBatch(tx, store, batch, `campaign_${campaign.state}`, now);
  const firstSubmitAt = batch.first_submit_at ?? now;
  if (batch.first_submit_at === null) {
    await tx.updateTable('batches').set({ first_submit_at: now }).where('batch_id', '=', batchId).execute();
  }
  const until = await blockedUntil(tx, campaign, now);
  if (until !== null || now - firstSubmitAt > longestSubmitMs) {
    const tooLong = (until ?? now) - firstSubmitAt > longestSubmitMs;
    if (tooLong) {
      // The planner takes the same people again at once: what could not be sent for so long is not tried anew in the same second.
      if (until === null) await holdAccount(tx, campaign.accountId, now + pauseAfterReleaseMs);
      return releaseWholeBatch(tx, store, batch, 'not_sent_in_time', now);
    }
    if (until !== null && unsentStates.includes(batch.state)) return { kind: 'blocked', until };
  }
  const isOut = (await readCallersOut(tx, campaign)).includes(batch.caller ?? '');
  if (isOut) return releaseWholeBatch(tx, store, batch, 'caller_out', now);
  await settleDeniedCalls(tx, batch, now);
  const sorted = await sortAttempts(tx, store, campaign, input);
  if (sorted.dial.length === 0) {
    if (!(await store.compareAndSetBatch(tx, batchId, ['intent', 'not_sent'], 'released'))) throw new AlreadyEntered();
    await releaseAttempts(tx, batch.campaign_id, batchId, sorted.releases, now);
    await tx
      .updateTable('batches')
      .set({ reason: 'nobody_eligible', verdict_at: now })
      .where('batch_id', '=', batchId)
      .execute();
    const data = { state: 'released', reason: 'nobody_eligible' };
    await appendEvents(tx, [{ at: now, campaignId: batch.campaign_id, type: 'batch.state', batchId, data }]);
    return { kind: 'verdict', state: 'released' };
  }
  if (!(await store.compareAndSetBatch(tx, batchId, ['intent', 'not_sent'], 'posting'))) throw new AlreadyEntered();
  await releaseAttempts(tx, batch.campaign_id, batchId, sorted.releases, now);
  return beginPost(tx, campaign, batch, sorted, input);
}

async function beginPost(
  tx: Queries,
  campaign: Campaign,
  batch: Selectable<Database['batches']>,
  sorted: Sorted,
  input: PostingInput,
): Promise<PostingStep> {
  const { batchId, now } = input;
  const k = batch.posts + 1;
  const caller = batch.caller ?? campaign.rules.callers.numbers[0] ?? '';
  const deadlineReal = input.nowReal + input.postingWindowMs;
  const answerByMs = Math.ceil((input.postingWindowMs + input.httpTimeoutMs) * input.speed);
  await tx
    .updateTable('batches')
    .set({
      posts: k,
      first_posted_at: batch.first_posted_at ?? now,
      hold_after: now + answerByMs + campaign.rules.timing.lateDeliveryMs,
      size: sorted.dial.length,
    })
    .where('batch_id', '=', batchId)
    .execute();
  await tx
    .insertInto('posts')
    .values({
      batch_id: batchId,
      k,
      posted_at: now,
      posted_real: input.nowReal,
      deadline_real: deadlineReal,
      verdict: null,
      verdict_at: null,
      status: null,
      service_request_id: null,
      message: null,
    })
    .execute();
  const ids = sorted.dial.map(({ attempt }) => attempt.attempt_id);
  await tx.updateTable('attempts').set({ state: 'posting', posted_at: now }).where('attempt_id', 'in', ids).execute();
  for (const { attempt } of sorted.dial) {
    await tx
      .updateTable('recipients')
      .set({ last_attempt_id: attempt.attempt_id, changed_at: now })
      .where('recipient_id', '=', attempt.recipient_id)
      .execute();
  }
  const events: NewEvent[] = [
    {
      at: now,
      campaignId: batch.campaign_id,
      type: 'batch.posting',
      batchId,
      data: { k, size: ids.length, deadlineReal, caller },
    },
  ];
  for (const { attempt, terms } of sorted.dial) {
    events.push({
      at: now,
      campaignId: batch.campaign_id,
      type: 'attempt.posted',
      recipientId: attempt.recipient_id,
      attemptId: attempt.attempt_id,
      batchId,
      data: { k, e164: attempt.e164, person: attempt.person, ...terms, ...screenedMark(campaign.rules, attempt) },
    });
  }
  await appendEvents(tx, events);
  const calls = sorted.dial.map(({ attempt, cells }) => ({
    attemptId: attempt.attempt_id,
    e164: attempt.e164,
    cells: JSON.parse(cells) as string[],
    openingLine: attempt.opening_line,
    reference: attempt.reference,
  }));
  return { kind: 'post', campaign, k, deadlineReal, caller, calls };
}

/**
 * The dial transaction: checks every rule once more, releases what fails, and commits `posting` durably before the caller may
 * send. Whoever enters a batch a second time is told its verdict; where that is still `posting`, the process that was about to
 * send it is gone, and its fate becomes `unknown`.
 */
export async function openPosting(store: Store, input: PostingInput): Promise<PostingStep> {
  try {
    return await store.transaction((tx) => enter(tx, store, input));
  } catch (error) {
    if (!(error instanceof AlreadyEntered)) throw error;
  }
  return store.transaction(async (tx) => {
    const batch = await lockBatch(tx, store, input.batchId);
    if (batch.state === 'posting') await enterUnknown(tx, store, batch, input.now);
    const step = await verdictNow(tx, input.batchId);
    // The other caller has meanwhile learnt that nothing was sent: it is to be sent again.
    return unsentStates.includes(step.state) ? { kind: 'blocked', until: input.now } : step;
  });
}
