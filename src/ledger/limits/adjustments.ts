import { isDeepStrictEqual } from 'node:util';
import { adjustableOf, readRules, type AdjustableRules } from '../../rules/campaign-rules.ts';
import { hasEnded } from '../../rules/lifecycle.ts';
import { lockAccount, readAccount, writeAccount, type Account } from './account-pace.ts';
import { findCampaign, listCampaigns, type Campaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import type { Queries, Tx, Store } from '../tx.ts';
import { updateCampaign } from '../updates.ts';

/** Changed limits by name; both are empty when nothing changed. */
export interface Adjustment<Limits> {
  from: Partial<Limits>;
  to: Partial<Limits>;
}

/** Adjustable rules, current and as in the campaign file. Undefined: no such campaign. */
export async function readAdjustable(
  db: Queries,
  campaignId: string,
): Promise<{ now: AdjustableRules; file: AdjustableRules } | undefined> {
  const campaign = await findCampaign(db, campaignId);
  if (campaign === undefined) return undefined;
  const { rules } = await db.selectFrom('campaigns').select('rules').where('campaign_id', '=', campaignId).executeTakeFirstOrThrow();
  return { now: adjustableOf(campaign.rules), file: adjustableOf(readRules(rules)) };
}

function compare<Limits extends object>(before: Limits, after: Limits): Adjustment<Limits> {
  const keys = (Object.keys(after) as (keyof Limits)[]).filter((key) => !isDeepStrictEqual(before[key], after[key]));
  const pick = (limits: Limits): Partial<Limits> => Object.fromEntries(keys.map((key) => [key, limits[key]])) as Partial<Limits>;
  return { from: pick(before), to: pick(after) };
}

/**
 * Applies limits, hours and retries from the next batch, delays to calls that end from now on. `reset`: otherwise back to the file.
 * Idempotent. Undefined: campaign ended or missing.
 */
export async function adjustCampaign(
  store: Store,
  campaignId: string,
  { wish: changes, reset, now }: { wish: Partial<AdjustableRules>; reset: boolean; now: number },
): Promise<Adjustment<AdjustableRules> | undefined> {
  return lockedTransaction(store, campaignId, async (tx) => {
    const campaign = await findCampaign(tx, campaignId);
    const limits = await readAdjustable(tx, campaignId);
    if (campaign === undefined || limits === undefined || hasEnded(campaign)) return undefined;
    const after = { ...(reset ? limits.file : limits.now), ...changes };
    const change = compare(limits.now, after);
    if (Object.keys(change.to).length === 0) return change;
    const { to: adjustments } = compare(limits.file, after);
    const stored = Object.keys(adjustments).length === 0 ? null : JSON.stringify(adjustments);
    await updateCampaign(tx, campaignId, { adjustments: stored });
    if ('hours' in change.to) await recheckDeferredRows(tx, campaignId, now);
    const data = { ...change, by: 'person' as const };
    await appendEvents(tx, [{ at: now, campaignId, type: 'campaign.adjusted', data }]);
    return change;
  });
}

/** Makes deferred rows without attempts due again, since their hours may have changed. Others keep their time: its cause is unknown. */
export async function recheckDeferredRows(tx: Tx, campaignId: string, now: number): Promise<void> {
  await tx
    .updateTable('recipients')
    .set((eb) => ({ due_at: eb.fn.coalesce('not_before', eb.val(0)) }))
    .where('campaign_id', '=', campaignId)
    .where('state', '=', 'waiting')
    .where('attempts', '=', 0)
    .where('due_at', '>', now)
    .execute();
}

export type AccountLimits = Pick<Account, 'maxConcurrentCalls' | 'keepFree'>;

export async function listCampaignsOf(db: Queries, accountId: string): Promise<Campaign[]> {
  return (await listCampaigns(db, accountId)).filter((campaign) => !hasEnded(campaign));
}

/** Changes an account's shared limits and logs it in each campaign. Without a limit `keepFree` becomes 0. */
export async function adjustAccount(
  store: Store,
  accountId: string,
  { wish: changes, now }: { wish: Partial<AccountLimits>; now: number },
): Promise<Adjustment<AccountLimits> & { campaigns: Campaign[] }> {
  return store.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const { maxConcurrentCalls, keepFree } = await readAccount(tx, accountId);
    const before: AccountLimits = { maxConcurrentCalls, keepFree };
    const after = { ...before, ...changes };
    if (after.maxConcurrentCalls === null) after.keepFree = 0;
    const change = compare(before, after);
    const campaigns = await listCampaignsOf(tx, accountId);
    if (Object.keys(change.to).length === 0) return { ...change, campaigns };
    await writeAccount(tx, accountId, { max_concurrent_calls: after.maxConcurrentCalls, keep_free: after.keepFree });
    const data = { ...change, by: 'person' as const };
    await appendEvents(
      tx,
      campaigns.map(({ campaignId }) => ({ at: now, campaignId, type: 'account.adjusted' as const, data })),
    );
    return { ...change, campaigns };
  });
}
