import { batchStateEvent, releaseBatch } from '../rows/release.ts';
import { compareAndSetBatch } from '../batch-state.ts';
import { randomUUID } from 'node:crypto';
import { missingRequirements } from '../../rules/house-rules.ts';
import { unansweredAttemptStates, unsentStates, type BatchState } from '../../rules/ledger.ts';
import { readCallerCheck, readCallersOut } from '../limits/callers.ts';
import { requireCampaign, type Campaign } from '../rows/campaigns.ts';
import { countAsPlacedIfSeen } from './denied-calls.ts';
import { pauseForClocks, type ServiceTime } from './clocks.ts';
import type { NewEvent } from '../../rules/events.ts';
import { appendEvents, lastEventSeq } from '../events.ts';
import { olderWhileSubmitting } from '../ledger-older.ts';
import { lockBatch, lockToDial } from '../locks.ts';
import { findBatch } from '../reads.ts';
import type { Tx, Store } from '../tx.ts';
import { lockCaller } from '../limits/caller-room.ts';
import { lockPeople } from '../limits/placed-calls.ts';
import { blockedUntil } from '../limits/safety.ts';
import { screenedMark } from './screening.ts';
import { giveBack, sortAttempts, type Sorted } from './sort-attempts.ts';
import { enterUnknown } from './verdicts.ts';
import { holdAccount, untilTurn, writeAccount } from '../limits/account-pace.ts';
import { updateBatch, updateRecipient } from '../updates.ts';
import type { BatchRow } from '../schema.ts';

export interface PostingCall {
  attemptId: string;
  e164: string;
  cells: string[];
  openingLine: string | null;
  reference: string | null;
}

export type PostingStep =
  /** `posting` is committed: only this caller may make POST number `k`, before `deadlineReal`. */
  | {
      kind: 'post';
      campaign: Campaign;
      k: number;
      entry: string;
      deadlineReal: number;
      caller: string;
      calls: PostingCall[];
    }
  /** Nothing may be sent. */
  | { kind: 'verdict'; state: BatchState }
  /** Nothing was sent; try again at `until` (service time). */
  | { kind: 'blocked'; until: number }
  /** Another request of the account has just begun; try again after `inMs` (real). */
  | { kind: 'early'; inMs: number }
  /** `posting` may be committed: the caller sends nothing, and reports that for its own entry. */
  | { kind: 'unsure'; k: number; entry: string; error: unknown };

export interface PostingInput extends Partial<ServiceTime> {
  batchId: string;
  now: number;
  nowReal: number;
  /** Longest time from commit of `posting` to start of the POST; real milliseconds. */
  postingWindowMs: number;
  /** Wait for an answer to the POST; real milliseconds. */
  httpTimeoutMs: number;
  /** Gap between requests of an account; real milliseconds. Default: none. */
  gapMs?: number;
  /** Service milliseconds per real millisecond. */
  speed: number;
  /** POSTs that earlier tries prepared: a ledger with fewer was set back. */
  witnessed?: number;
  /** Start of the last read of the agent's list for a denied batch; null: it failed, and the batch waits. Undefined: now. */
  listReadAt?: number | null | undefined;
}

/** After this (service time) an unsent batch is given back to the planner. */
export const longestSubmitMs = 15 * 60_000;

const pauseAfterReleaseMs = 60_000;
/** Delay before rechecking a record that may show a denied call. */
const recheckMs = 30_000;

/** Rolls back: another caller entered the batch first. */
class AlreadyEntered extends Error {}

async function releaseWholeBatch(tx: Tx, batch: BatchRow, { reason, now }: { reason: string; now: number }): Promise<PostingStep> {
  if (!(await releaseBatch(tx, batch, { reason, now }))) throw new AlreadyEntered();
  return { kind: 'verdict', state: 'released' };
}

async function verdictNow(tx: Tx, batch: BatchRow): Promise<Extract<PostingStep, { kind: 'verdict' }>> {
  return { kind: 'verdict', state: (await findBatch(tx, batch.batch_id))?.state ?? batch.state };
}

async function enter(tx: Tx, store: Store, input: PostingInput, entry: string): Promise<PostingStep> {
  const { batchId, now, witnessed = 0 } = input;
  await lockToDial(tx);
  const batch = await lockBatch(tx, batchId);
  if (batch.posts < witnessed) throw olderWhileSubmitting(batchId, witnessed);
  const campaign = await requireCampaign(tx, batch.campaign_id);
  // The last locks: what is read from here on is still true at commit.
  await lockPeople(tx, campaign.rules.caps, batchId);
  await lockCaller(tx, batch.caller, campaign.rules.callers.limits);
  const seen = await countAsPlacedIfSeen(tx, batch, { now, listReadAt: input.listReadAt });
  if (seen === 'placed') return verdictNow(tx, batch);
  if (campaign.state !== 'running') return releaseWholeBatch(tx, batch, { reason: `campaign_${campaign.state}`, now });
  if (missingRequirements(campaign.rules).length > 0) return releaseWholeBatch(tx, batch, { reason: 'house_rules', now });
  const databaseNow = await store.now(tx);
  const inMs = await untilTurn(tx, campaign.accountId, { gapMs: input.gapMs ?? 0, databaseNow });
  if (inMs > 0 && unsentStates.includes(batch.state)) return { kind: 'early', inMs };
  const firstSubmitAt = batch.first_submit_at ?? now;
  if (batch.first_submit_at === null) await updateBatch(tx, batchId, { first_submit_at: now });
  const blocked = await blockedUntil(tx, campaign, now);
  const waits = Math.max(blocked ?? 0, seen === 'undecided' ? now + recheckMs : 0, await latestDue(tx, batchId));
  const until = pauseForClocks(input, waits > now ? waits : null);
  if ((until ?? now) - firstSubmitAt > longestSubmitMs) {
    // The planner takes the same recipients again at once: this avoids retries within the same second.
    if (until === null) await holdAccount(tx, campaign.accountId, now + pauseAfterReleaseMs);
    return releaseWholeBatch(tx, batch, { reason: 'not_sent_in_time', now });
  }
  if (until !== null && unsentStates.includes(batch.state)) return { kind: 'blocked', until };
  const isOut = (await readCallersOut(tx, campaign)).includes(batch.caller);
  if (isOut) return releaseWholeBatch(tx, batch, { reason: 'caller_out', now });
  const sorted = await sortAttempts(tx, campaign, { ...input, caller: batch.caller });
  const to = sorted.dial.length === 0 ? 'released' : 'posting';
  if (!(await compareAndSetBatch(tx, batchId, { from: unsentStates, to }))) throw new AlreadyEntered();
  await giveBack(tx, { campaignId: campaign.campaignId, batchId, now }, sorted);
  if (to === 'posting') {
    await writeAccount(tx, campaign.accountId, { requested_database: databaseNow });
    return beginPost(tx, { campaign, batch, sorted, input, entry });
  }
  const reason = 'nobody_eligible';
  await updateBatch(tx, batchId, { reason, verdict_at: now });
  await appendEvents(tx, [batchStateEvent(batch, now, { state: to, reason })]);
  return { kind: 'verdict', state: to };
}

/** In the future when the clock went back since planning, or an earlier call's end was corrected. */
async function latestDue(tx: Tx, batchId: string): Promise<number> {
  const row = await tx
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .select((eb) => eb.fn.max('recipients.due_at').as('due'))
    .where('attempts.batch_id', '=', batchId)
    .where('attempts.state', 'in', unansweredAttemptStates)
    .executeTakeFirst();
  return row?.due ?? 0;
}

interface Entered {
  campaign: Campaign;
  batch: BatchRow;
  sorted: Sorted;
  input: PostingInput;
  entry: string;
}

async function beginPost(tx: Tx, { campaign, batch, sorted, input, entry }: Entered): Promise<PostingStep> {
  const { batchId, now, nowReal, postingWindowMs, speed } = input;
  const { campaignId, rules } = campaign;
  const k = batch.posts + 1;
  const { caller } = batch;
  const deadlineReal = nowReal + postingWindowMs;
  const answerByMs = Math.ceil((postingWindowMs + input.httpTimeoutMs) * speed);
  await updateBatch(tx, batchId, {
    posts: k,
    first_posted_at: batch.first_posted_at ?? now,
    hold_after: now + answerByMs + rules.timing.lateDeliveryMs,
    size: sorted.dial.length,
  });
  const times = { posted_at: now, posted_real: nowReal, deadline_real: deadlineReal };
  await tx
    .insertInto('posts')
    .values({
      batch_id: batchId,
      k,
      ...times,
      service_from: input.serviceFrom ?? null,
      entry,
      caller_check: await readCallerCheck(tx, campaign, caller),
    })
    .execute();
  const ids = sorted.dial.map(({ attempt }) => attempt.attempt_id);
  const firstSeq = (await lastEventSeq(tx)) + 1;
  await tx
    .updateTable('attempts')
    .set((eb) => ({
      state: 'posting',
      posted_at: now,
      posted_seq: eb.fn.coalesce('posted_seq', eb.val(firstSeq)),
      rings_until: now + rules.timing.dispatchMarginMs,
    }))
    .where('attempt_id', 'in', ids)
    .execute();
  const event = { at: now, campaignId, batchId };
  const begun = { k, size: ids.length, deadlineReal, caller, ...(speed === 1 ? {} : { speed }) };
  const events: NewEvent[] = [{ ...event, type: 'batch.posting', data: begun }];
  for (const { attempt, terms } of sorted.dial) {
    const { attempt_id: attemptId, recipient_id: recipientId, e164 } = attempt;
    await updateRecipient(tx, recipientId, { last_attempt_id: attemptId, changed_at: now });
    const { externalId: person, ...where } = terms;
    const data = { k, ...where, e164, person, ...screenedMark(rules, attempt) };
    events.push({ ...event, type: 'attempt.posted', recipientId, attemptId, data });
  }
  await appendEvents(tx, events);
  const calls = sorted.dial.map(({ attempt, cells }) => ({
    attemptId: attempt.attempt_id,
    e164: attempt.e164,
    cells: JSON.parse(cells) as string[],
    openingLine: attempt.opening_line,
    reference: attempt.reference,
  }));
  return { kind: 'post', campaign, k, entry, deadlineReal, caller, calls };
}

/**
 * The dial transaction: rechecks every rule, releases failing calls, and commits `posting` before the caller may send. A second caller gets
 * the verdict; a batch still `posting` has lost its caller and becomes `unknown`.
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
    const batch = await lockBatch(tx, input.batchId);
    if (batch.state === 'posting') await enterUnknown(tx, batch, input.now);
    const step = await verdictNow(tx, batch);
    // The other caller has learnt that nothing was sent: resend.
    return unsentStates.includes(step.state) ? { kind: 'blocked', until: input.now } : step;
  });
}
