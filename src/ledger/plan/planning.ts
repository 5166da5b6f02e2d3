import { batchIdOf } from '../../rules/ids.ts';
import { CallerSorting } from '../../rules/caller-choice.ts';
import { unsentStates, type BatchState } from '../../rules/ledger.ts';
import { goalReached, outcomeOfWaiting, rowsAwaitedUntil, type DrainReason } from '../../rules/lifecycle.ts';
import { reportsRecipients } from '../../rules/service-api.ts';
import { earliest } from '../../rules/campaign-rules.ts';
import type { WaitReason } from '../../rules/pacing/next-step.ts';
import { lockAccount } from '../limits/account-pace.ts';
import { callersFullUntil, fullUntil, readCampaignCapacities } from '../limits/caller-room.ts';
import { giveCaller, readCallersIn } from '../limits/callers.ts';
import { deferRecipients, selectDue, sortCandidates, type Sorting } from './candidates.ts';
import { decidePilot, isPilotOver } from '../limits/pilot.ts';
import { tripGates, goalAllowance, isAnyoneSpared } from '../limits/gates.ts';
import { pauseForAccountRules } from '../limits/house.ts';
import { openBreaker, blockedUntil, canaryAllowance, pauseUnproven } from '../limits/safety.ts';
import { changeCampaignState, drainCampaign, findCampaign, type Campaign } from '../rows/campaigns.ts';
import {
  countOpen,
  countOutstanding,
  isOutstanding,
  nextDialableAt,
  nextDueAt,
  readUnsubmitted,
  type Outstanding,
  candidatesPerPass,
  countDialable,
  countDue,
  isAnyoneDue,
} from '../limits/counters.ts';
import { createBatch, endWithoutWords, type RenderRecipient } from '../rows/create-batch.ts';
import { leaveInDoubt } from '../doubt/dial-guard.ts';
import { olderBeforePlanning, olderThanCampaign, olderThanRound } from '../ledger-older.ts';
import { slotsNow } from '../limits/line-limits.ts';
import { lockCampaign } from '../locks.ts';
import { findBatch, findRoundRow } from '../reads.ts';
import type { Tx, Store } from '../tx.ts';
import { finishRecipients, type Finish } from '../rows/recipients.ts';
import { hasOnlyCallbacksLeft, noteCallbackDelays } from '../rows/promises.ts';
import { settlePassedCallbacks } from '../rows/passed-promises.ts';
import { findOverlapping, readWordsKept, sharesWords } from '../doubt/shared-words.ts';

export type Plan =
  | { kind: 'batch'; batchId: string; state: BatchState; size: number }
  /** Nothing to submit before `until` (service time); null: before something changes. */
  | { kind: 'wait'; reason: WaitReason; until: number | null; outstanding: Outstanding; onlyPromises?: true }
  | { kind: 'done' };

export interface PlanInput {
  campaignId: string;
  round: number;
  /** Batch counter of the round, from 1. The same n always returns the same batch. */
  n: number;
  now: number;
  render: RenderRecipient;
}

interface PassInput extends PlanInput {
  ledgerId: string;
}

/** Recheck interval of a wait that no collector ends. */
const recheckMs = 30_000;

async function findPlanned(tx: Tx, input: PlanInput): Promise<Plan | undefined> {
  const stored = await findBatch(tx, batchIdOf(input.campaignId, input.round, input.n));
  if (stored !== undefined) return { kind: 'batch', batchId: stored.batch_id, state: stored.state, size: stored.size };
  if (input.n === 1) return undefined;
  const previous = await findBatch(tx, batchIdOf(input.campaignId, input.round, input.n - 1));
  if (previous === undefined) throw olderBeforePlanning(input.campaignId, input.n - 1, 'missing');
  // The caller has submitted the previous batch and knows its verdict.
  if (previous.state === 'posting' || unsentStates.includes(previous.state))
    throw olderBeforePlanning(input.campaignId, input.n - 1, 'undecided');
  return undefined;
}

/** Finishes waiting rows of a campaign that dials no more; with the goal reached, all but callbacks. Returns whether more may be left. */
async function closeWaiting(tx: Tx, input: PlanInput, reason: DrainReason | typeof goalReached): Promise<boolean> {
  const rows = await tx
    .selectFrom('recipients')
    .select('recipient_id')
    .select(sharesWords.as('shared'))
    .where('campaign_id', '=', input.campaignId)
    .where('state', '=', 'waiting')
    .$if(reason === goalReached, (query) => query.where('promise_id', 'is', null))
    .limit(candidatesPerPass)
    .execute();
  const outcome = reason === goalReached ? 'cancelled' : outcomeOfWaiting(reason);
  await finishRecipients(
    tx,
    input,
    rows.map(({ recipient_id: recipientId, shared }) => ({
      recipientId,
      outcome,
      reason: reason === 'campaign_end' && shared === 1 ? 'words_busy' : reason,
    })),
  );
  return rows.length === candidatesPerPass;
}

/** One planning pass; undefined: recipients were sorted out, so another pass is worthwhile. */
async function planOnce(tx: Tx, input: PassInput): Promise<Plan | undefined> {
  await lockCampaign(tx, input.campaignId);
  const planned = await findPlanned(tx, input);
  if (planned !== undefined) return planned;
  const campaign = await findCampaign(tx, input.campaignId);
  if (campaign === undefined) throw olderThanCampaign(input.campaignId);
  if (campaign.round < input.round) throw olderThanRound(input.campaignId, input.round);
  // Requeued rows wait for the next round: nothing submits a batch of a round that has ended.
  if ((await findRoundRow(tx, input))?.ended_at != null) return { kind: 'done' };
  const { rules } = campaign;
  const ended = rules.endsAt !== null && input.now >= rules.endsAt;
  if (campaign.state === 'paused' && !ended) {
    if (campaign.resumeAt === null || input.now < campaign.resumeAt)
      return wait(tx, input, { reason: 'paused', until: earliest(campaign.resumeAt, rules.endsAt) });
    await changeCampaignState(tx, input, { to: 'running', reason: 'its cool-down is over' });
    // Rereads the campaign: calls that ended before it began to dial must not open the breaker.
    return undefined;
  }
  if (ended && campaign.state !== 'draining') await drainCampaign(tx, input, { why: 'campaign_end' });
  if (ended || campaign.state === 'draining') {
    const more = await closeWaiting(tx, input, campaign.draining ?? 'campaign_end');
    return more ? undefined : finishOrWait(tx, input, campaign);
  }
  if (campaign.state === 'scheduled') {
    if (rules.startsAt !== null && input.now < rules.startsAt) return wait(tx, input, { reason: 'scheduled', until: rules.startsAt });
    await changeCampaignState(tx, input, { to: 'running' });
    return undefined;
  }
  if (await pauseForAccountRules(tx, campaign, input.now)) return undefined;
  await settlePassedCallbacks(tx, campaign, input.now);
  if (campaign.goal === 'reached' && (await closeWaiting(tx, input, goalReached))) return undefined;
  if (await decidePilot(tx, campaign, input.now)) return undefined;
  // Only the operator's resume decides the pilot; no call is placed before.
  if (campaign.pilot?.state === 'asked') return wait(tx, input, { reason: 'pilot', until: rules.endsAt });
  if (await tripGates(tx, campaign, input.now)) return undefined;
  if (await openBreaker(tx, campaign, input.now)) return undefined;
  const blocked = await blockedUntil(tx, campaign, input.now);
  // Every wait ends at the campaign's end at the latest.
  if (blocked !== null) return wait(tx, input, { reason: 'blocked', until: earliest(blocked, rules.endsAt) });
  const canary = await canaryAllowance(tx, campaign);
  if (canary !== null && canary <= 0) {
    if (await pauseUnproven(tx, campaign, input.now)) return undefined;
    return wait(tx, input, { reason: 'canary', until: null });
  }
  const toGoal = await goalAllowance(tx, campaign);
  if (toGoal === 0) return wait(tx, input, { reason: 'goal', until: rules.endsAt });
  return fillBatch(tx, input, { campaign, allowance: earliest(canary, toGoal) });
}

async function fillBatch(
  tx: Tx,
  input: PassInput,
  { campaign, allowance }: { campaign: Campaign; allowance: number | null },
): Promise<Plan | undefined> {
  const { rules } = campaign;
  const wordsKept = await readWordsKept(tx, campaign);
  const due = await countDue(tx, campaign, { now: input.now, wordsKept });
  if (due === 0) return (await waitForWords(tx, input, campaign)) ?? finishOrWait(tx, input, campaign);
  await lockAccount(tx, campaign.accountId);
  const slots = await slotsNow(tx, campaign, { now: input.now, due, canary: allowance });
  if (slots.wait !== null) return wait(tx, input, { reason: slots.wait.reason, until: slots.wait.until });
  const { numbers, choice, limits } = rules.callers;
  // One request uses one number.
  const { rooms, looksAt } = await readCampaignCapacities(tx, campaign, input.now);
  const pool = numbers.length > 1 || rooms.size > 0 ? await readCallersIn(tx, campaign) : null;
  if (pool?.length === 0) return wait(tx, input, { reason: 'paused', until: rules.endsAt });
  const usable = pool?.map(({ phoneNumberId }) => phoneNumberId) ?? numbers;
  const full = await fullUntil(tx, campaign, { rooms, numbers: usable, now: input.now });
  if (full !== null) return wait(tx, input, { reason: 'caller_limit', until: earliest(full, rules.endsAt) });
  const { sorting, callers } = await sortDue(tx, campaign, { now: input.now, slots: slots.count, wordsKept }, () =>
    pool === null ? null : new CallerSorting(pool, choice, { rooms, sticksUntil: input.now + (limits?.stickMs ?? Infinity), looksAt }),
  );
  await finishRecipients(tx, input, sorting.finishes);
  await leaveInDoubt(tx, input, sorting.doubtful);
  await deferRecipients(tx, input, sorting.deferrals.values());
  await noteCallbackDelays(tx, sorting.heldPromises);
  const rendered = sorting.dial.map((row) => ({ row, texts: input.render(JSON.parse(row.cells) as string[]) }));
  // The import refuses such rows; without a text no call is placed.
  const mute = rendered.flatMap(({ row, texts }) => (texts === null ? [endWithoutWords(row)] : []));
  await finishRecipients(tx, input, mute);
  const recipients = rendered.flatMap(({ row, texts }) => (texts === null ? [] : [{ row, openingLine: texts.firstMessage }]));
  const together = { rules, rows: recipients.map(toLine), now: input.now };
  const overlapping = wordsKept ? await findOverlapping(tx, together) : { ids: [], until: input.now };
  if (overlapping.ids.length > 0) await deferRecipients(tx, input, [{ ...overlapping, reason: 'words' }]);
  const apart = recipients.filter(({ row }) => !overlapping.ids.includes(row.recipient_id));
  if (apart.length === 0) return undefined;
  const caller = callers?.caller ?? numbers[0] ?? '';
  const reference = referencesWith(input, campaign);
  const { agentId } = rules;
  const refused: Finish[] = [];
  const size = await createBatch(tx, { ...input, agentId, caller, reference, recipients: apart, wordsKept, refused });
  await finishRecipients(tx, input, refused);
  if (size === 0 && refused.length > 0) return undefined;
  if (size === 0) return wait(tx, input, { reason: 'words', until: input.now + recheckMs });
  const chosen = apart.map(({ row }) => row).filter((row) => !refused.some(({ recipientId }) => recipientId === row.recipient_id));
  if (callers !== null) await giveCaller(tx, input.campaignId, { phoneNumberId: caller, recipients: chosen });
  return { kind: 'batch', batchId: batchIdOf(input.campaignId, input.round, input.n), state: 'intent', size };
}

/** First twice the slots, then as many rows as one pass may take. */
async function sortDue(
  tx: Tx,
  campaign: Campaign,
  options: { now: number; slots: number; wordsKept: boolean },
  sortCallers: () => CallerSorting | null,
): Promise<{ sorting: Sorting; callers: CallerSorting | null }> {
  for (let limit = Math.min(2 * options.slots, candidatesPerPass); ; limit = candidatesPerPass) {
    const candidates = await selectDue(tx, campaign, { ...options, limit });
    const callers = sortCallers();
    const sorting = await sortCandidates(tx, campaign, { ...options, candidates, callers });
    const isAll = limit === candidatesPerPass || candidates.length < limit;
    if (isAll || sorting.dial.length >= options.slots) return { sorting, callers };
  }
}

function toLine({ row, openingLine }: { row: { recipient_id: string }; openingLine: string | null }) {
  return { id: row.recipient_id, openingLine };
}

/** Rows are due, but an open call has the same opening words. The collector reports its end; another campaign's call is polled. */
async function waitForWords(tx: Tx, input: PlanInput, campaign: Campaign): Promise<Plan | undefined> {
  if (!(await isAnyoneDue(tx, campaign, input.now))) return undefined;
  const outstanding = await countOutstanding(tx, input.campaignId);
  const until = isOutstanding(outstanding) ? null : input.now + recheckMs;
  return { kind: 'wait', reason: 'words', until: earliest(until, campaign.rules.endsAt), outstanding };
}

/** Identifies the attempt across all databases that share the service account. */
export function referencesWith(
  { ledgerId }: Pick<Store, 'ledgerId'>,
  { rules, api }: Pick<Campaign, 'rules' | 'api'>,
): ((attemptId: string) => string) | null {
  return rules.variables?.reference == null && !reportsRecipients(api) ? null : (attemptId) => `${ledgerId}:${attemptId}`;
}

async function wait(tx: Tx, input: PlanInput, { reason, until }: { reason: WaitReason; until: number | null }): Promise<Plan> {
  return { kind: 'wait', reason, until, outstanding: await countOutstanding(tx, input.campaignId) };
}

async function finishOrWait(tx: Tx, input: PlanInput, campaign: Campaign): Promise<Plan> {
  const { rules, pilot } = campaign;
  const due = await nextDialableAt(tx, campaign);
  const outstanding = await countOutstanding(tx, input.campaignId);
  if (due === null && pilot?.state === 'calling' && campaign.state !== 'draining')
    return { kind: 'wait', reason: 'pilot', until: rules.endsAt, outstanding };
  if (due !== null) {
    // Rows due after the end get their outcome at the end.
    const onlyPromises = !isOutstanding(outstanding) && (await hasOnlyCallbacksLeft(tx, input.campaignId));
    return { kind: 'wait', reason: 'due', until: Math.min(due, rules.endsAt ?? due), outstanding, ...(onlyPromises && { onlyPromises }) };
  }
  if (isOutstanding(outstanding)) return { kind: 'wait', reason: 'collecting', until: null, outstanding };
  const until = rowsAwaitedUntil(campaign, input.now);
  return until === null ? { kind: 'done' } : { kind: 'wait', reason: 'rows', until, outstanding };
}

/**
 * Idempotent in `n`. Writes batch and attempts together, in state `intent`. Throws `LedgerOlderError` when the round, batch n−1 or its
 * verdict is lost.
 */
export async function planBatch(store: Store, input: PlanInput): Promise<Plan> {
  for (;;) {
    const plan = await store.transaction((tx) => planOnce(tx, { ...input, ledgerId: store.ledgerId }));
    if (plan !== undefined) return plan;
  }
}

/** Whether `planBatch` would answer anything but "wait"; changes nothing. Ends a collect early. */
export async function isPlanReady(store: Store, campaignId: string, now: number): Promise<boolean> {
  const campaign = await findCampaign(store.db, campaignId);
  if (campaign === undefined || campaign.state === 'paused') return false;
  // The planner runs only when its last batch has a verdict.
  const { beingSubmitted, halvesWait } = await readUnsubmitted(store.db, campaignId);
  if (beingSubmitted) return false;
  if (halvesWait) return true;
  if (campaign.rules.endsAt !== null && now >= campaign.rules.endsAt && (await nextDueAt(store.db, campaignId)) !== null) return true;
  if ((await blockedUntil(store.db, campaign, now)) !== null) return false;
  if ((await isAnyoneSpared(store.db, campaign)) || (await isPilotOver(store.db, campaign))) return true;
  const canary = await canaryAllowance(store.db, campaign);
  const due = await countDialable(store.db, campaign, now);
  if (due === 0) return false;
  if (canary !== null && canary <= 0) return (await countOpen(store.db, campaignId)) === 0;
  if ((await callersFullUntil(store.db, campaign, now)) !== null) return false;
  const toGoal = await goalAllowance(store.db, campaign);
  return toGoal !== 0 && (await slotsNow(store.db, campaign, { now, due, canary: earliest(canary, toGoal) })).count > 0;
}
