import { adjustableLimits, readRules, type CampaignRules, type PacingLimits } from '../../rules/campaign-rules.ts';
import { hasEnded } from '../../rules/lifecycle.ts';
import { lockAccount, readAccount, writeAccount, type Account } from './account-pace.ts';
import { findCampaign, listCampaigns, type Campaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import type { Store } from '../open-ledger.ts';
import { lockedTransaction } from '../locks.ts';
import type { Queries } from '../tx.ts';
import { updateCampaign } from '../updates.ts';

/** What a person changed, by the limits' names; both are empty when all was so already. */
export interface Adjustment<Limits> {
  from: Partial<Limits>;
  to: Partial<Limits>;
}

/** A limit that rules frozen by an earlier version do not have is none. */
function limitsOf(pacing: CampaignRules['pacing']): PacingLimits {
  return Object.fromEntries(adjustableLimits.map((name) => [name, pacing[name] ?? null])) as unknown as PacingLimits;
}

/** The limits that hold now, and those of the campaign file. Undefined when there is no such campaign. */
export async function readLimits(db: Queries, campaignId: string): Promise<{ now: PacingLimits; file: PacingLimits } | undefined> {
  const campaign = await findCampaign(db, campaignId);
  if (campaign === undefined) return undefined;
  const { rules } = await db.selectFrom('campaigns').select('rules').where('campaign_id', '=', campaignId).executeTakeFirstOrThrow();
  return { now: limitsOf(campaign.rules.pacing), file: limitsOf(readRules(rules).pacing) };
}

function compare<Limits extends object>(before: Limits, after: Limits): Adjustment<Limits> {
  const keys = (Object.keys(after) as (keyof Limits)[]).filter((key) => before[key] !== after[key]);
  const pick = (limits: Limits): Partial<Limits> => Object.fromEntries(keys.map((key) => [key, limits[key]])) as Partial<Limits>;
  return { from: pick(before), to: pick(after) };
}

/**
 * Changes limits of a campaign from its next batch on; its hash stays. `reset`: those of the file hold again, apart from what `wish`
 * names. Repeating it changes nothing. Undefined when the campaign has ended, or is not there.
 */
export async function adjustCampaign(
  store: Store,
  campaignId: string,
  { wish, reset, now }: { wish: Partial<PacingLimits>; reset: boolean; now: number },
): Promise<Adjustment<PacingLimits> | undefined> {
  return lockedTransaction(store, campaignId, async (tx) => {
    const campaign = await findCampaign(tx, campaignId);
    const limits = await readLimits(tx, campaignId);
    if (campaign === undefined || limits === undefined || hasEnded(campaign)) return undefined;
    const after = { ...(reset ? limits.file : limits.now), ...wish };
    const change = compare(limits.now, after);
    if (Object.keys(change.to).length === 0) return change;
    const { to: adjustments } = compare(limits.file, after);
    const stored = Object.keys(adjustments).length === 0 ? null : JSON.stringify(adjustments);
    await updateCampaign(tx, campaignId, { adjustments: stored });
    const data = { ...change, by: 'person' as const };
    await appendEvents(tx, [{ at: now, campaignId, type: 'campaign.adjusted', data }]);
    return change;
  });
}

export type AccountLimits = Pick<Account, 'maxConcurrentCalls' | 'keepFree'>;

/** The campaigns of an account that have not ended. */
export async function listCampaignsOf(db: Queries, accountId: string): Promise<Campaign[]> {
  return (await listCampaigns(db, accountId)).filter((campaign) => !hasEnded(campaign));
}

/** Changes what the campaigns of an account may use together; told in the log of each. Without a limit nothing is kept free. */
export async function adjustAccount(
  store: Store,
  accountId: string,
  { wish, now }: { wish: Partial<AccountLimits>; now: number },
): Promise<Adjustment<AccountLimits> & { campaigns: Campaign[] }> {
  return store.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const { maxConcurrentCalls, keepFree } = await readAccount(tx, accountId);
    const before: AccountLimits = { maxConcurrentCalls, keepFree };
    const after = { ...before, ...wish };
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
