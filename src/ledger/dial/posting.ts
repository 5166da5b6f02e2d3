import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { unsentStates } from '../../domain/ledger.ts';
import { readCallersOut } from '../limits/callers.ts';
import { toCampaign, type Campaign } from '../rows/campaigns.ts';
import { countAsPlacedIfSeen } from './denied-calls.ts';
import { pauseForClocks } from './clocks.ts';
import { lockToDial } from '../do-not-call-lock.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../events.ts';
import { olderWhileSubmitting } from '../ledger-older.ts';
import { lockBatch, type Queries, type Store } from '../open-ledger.ts';
import { releaseBatch } from '../rows/release.ts';
import { lockPeople } from '../limits/placed-calls.ts';
import type { PostingInput, PostingStep } from './posting-step.ts';
import { blockedUntil } from '../limits/safety.ts';
import type { Database } from '../schema.ts';
import { screenedMark } from './screening.ts';
import { giveBack, sortAttempts, type Sorted } from './sort-attempts.ts';
import { enterUnknown, holdAccount } from './verdicts.ts';

/** A batch that could not be sent for this long, in service time, is given back to the planner. */
export const longestSubmitMs = 15 * 60_000;

const pauseAfterReleaseMs = 60_000;
/** A record that may show a call which the service denied is looked at again after this long. */
const lookAgainMs = 30_000;

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

async function enter(tx: Queries, store: Store, input: PostingInput, entry: string): Promise<PostingStep> {
  const { batchId, now, witnessed = 0 } = input;
  await lockToDial(tx, store);
  const batch = await lockBatch(tx, store, batchId);
  if (batch.posts < witnessed) throw olderWhileSubmitting(batchId, witnessed);
  const row = await tx
    .selectFrom('campaigns')
    .selectAll()
    .where('campaign_id', '=', batch.campaign_id)
    .executeTakeFirstOrThrow();
  const campaign = toCampaign(row);
  // The last lock: what is read from here on is true when this commits.
  await lockPeople(tx, store, campaign.rules.caps, batchId);
  const seen = await countAsPlacedIfSeen(tx, store, batch, now);
  if (seen === 'placed') return verdictNow(tx, batchId);
  if (campaign.state !== 'running') return releaseWholeBatch(tx, store, batch, `campaign_${campaign.state}`, now);
  const firstSubmitAt = batch.first_submit_at ?? now;
  if (batch.first_submit_at === null)
    await tx.updateTable('batches').set({ first_submit_at: now }).where('batch_id', '=', batchId).execute();
  const blocked = await blockedUntil(tx, campaign, now);
  const until = pauseForClocks(input, seen === 'undecided' ? Math.max(blocked ?? 0, now + lookAgainMs) : blocked);
  if (until !== null || now - firstSubmitAt > longestSubmitMs) {
    const tooLong = (until ?? now) - firstSubmitAt > longestSubmitMs;
    if (tooLong) {
      // The planner takes the same people again at once: what could not be sent for so long is not tried anew in the same second.
      if (until === null) await holdAccount(tx, campaign.accountId, now + pauseAfterReleaseMs);
      return releaseWholeBatch(tx, store, batch, 'not_sent_in_time', now);
    }
    if (until !== null && unsentStates.includes(batch.state)) return { kind: 'blocked', until };
  }
  const isOut = (await readCallersOut(tx, campaign)).includes(batch.caller);
  if (isOut) return releaseWholeBatch(tx, store, batch, 'caller_out', now);
  const sorted = await sortAttempts(tx, campaign, input);
  if (sorted.dial.length === 0) {
    if (!(await store.compareAndSetBatch(tx, batchId, unsentStates, 'released'))) throw new AlreadyEntered();
    await giveBack(tx, batch, sorted, now);
    await tx
      .updateTable('batches')
      .set({ reason: 'nobody_eligible', verdict_at: now })
      .where('batch_id', '=', batchId)
      .execute();
    const data = { state: 'released', reason: 'nobody_eligible' } as const;
    await appendEvents(tx, [{ at: now, campaignId: batch.campaign_id, type: 'batch.state', batchId, data }]);
    return { kind: 'verdict', state: 'released' };
  }
  if (!(await store.compareAndSetBatch(tx, batchId, unsentStates, 'posting'))) throw new AlreadyEntered();
  await giveBack(tx, batch, sorted, now);
  return beginPost(tx, campaign, batch, sorted, input, entry);
}

async function beginPost(
  tx: Queries,
  campaign: Campaign,
  batch: Selectable<Database['batches']>,
  sorted: Sorted,
  input: PostingInput,
  entry: string,
): Promise<PostingStep> {
  const { batchId, now } = input;
  const k = batch.posts + 1;
  const { caller } = batch;
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
      service_from: input.serviceFrom ?? null,
      entry,
    })
    .execute();
  const ids = sorted.dial.map(({ attempt }) => attempt.attempt_id);
  const log = await tx
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirst();
  await tx
    .updateTable('attempts')
    .set((eb) => ({
      state: 'posting',
      posted_at: now,
      posted_seq: eb.fn.coalesce('posted_seq', eb.val((log?.seq ?? 0) + 1)),
      rings_until: now + campaign.rules.timing.dispatchMarginMs,
    }))
    .where('attempt_id', 'in', ids)
    .execute();
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
  const entry = randomUUID();
  let entered: PostingStep | undefined;
  try {
    return await store.transaction(async (tx) => {
      entered = await enter(tx, store, input, entry);
      return entered;
    });
  } catch (error) {
    if (!(error instanceof AlreadyEntered)) {
      if (entered?.kind === 'post') return { kind: 'unsure', k: entered.k, entry, error };
      throw error;
    }
  }
  return store.transaction(async (tx) => {
    const batch = await lockBatch(tx, store, input.batchId);
    if (batch.state === 'posting') await enterUnknown(tx, store, batch, input.now);
    const step = await verdictNow(tx, input.batchId);
    // The other caller has meanwhile learnt that nothing was sent: it is to be sent again.
    return unsentStates.includes(step.state) ? { kind: 'blocked', until: input.now } : step;
  });
}
