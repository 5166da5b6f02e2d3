import { isDeepStrictEqual } from 'node:util';
import { missingRequirementsText, isEmptyAccountRules, missingRequirements } from '../../rules/house-rules.ts';
import { recheckDeferredRows } from './adjustments.ts';
import { changeCampaignState, goingStates, listCampaigns, type Campaign } from '../rows/campaigns.ts';
import { accountScope } from '../rows/suppressions.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction, lockToWrite } from '../locks.ts';
import type { Queries, Tx, Store } from '../tx.ts';
import type { AccountRules } from '../../rules/campaign-rules.ts';

export interface AccountRulesVersion {
  version: number;
  setAt: number;
  text: string;
  /** Null: no rules. */
  rules: AccountRules | null;
}

/** All versions, newest first; the newest applies. */
export async function listAccountRulesVersions(db: Queries): Promise<AccountRulesVersion[]> {
  const rows = await db.selectFrom('house_rules').selectAll().orderBy('version', 'desc').execute();
  return rows.map(({ version, set_at: setAt, file: text, rules }) => {
    return { version, setAt, text, rules: rules === null ? null : (JSON.parse(rules) as AccountRules) };
  });
}

export async function readLatestAccountRules(db: Queries): Promise<AccountRules | null> {
  return (await listAccountRulesVersions(db))[0]?.rules ?? null;
}

export function changesAccountRules(last: AccountRulesVersion | undefined, rules: Omit<AccountRules, 'version'>): boolean {
  if (last?.rules == null) return !isEmptyAccountRules(rules);
  const { version: _, ...before } = last.rules;
  return !isDeepStrictEqual(before, rules);
}

/**
 * No dial runs meanwhile, so every call posted after the commit follows the rules; deferred rows are rechecked. Idempotent. Returns the
 * version and the campaigns under way.
 */
export async function storeAccountRules(
  store: Store,
  { text, rules, now }: { text: string; rules: Omit<AccountRules, 'version'>; now: number },
): Promise<{ version: number; changed: boolean; campaigns: Campaign[] }> {
  const set = await store.transaction(async (tx) => {
    await lockToWrite(tx);
    const [last] = await listAccountRulesVersions(tx);
    const version = (last?.version ?? 0) + 1;
    if (!changesAccountRules(last, rules)) return { version: version - 1, changed: false };
    const kept = isEmptyAccountRules(rules) ? null : { version, ...rules };
    const stored = kept === null ? null : JSON.stringify(kept);
    await tx.insertInto('house_rules').values({ version, set_at: now, file: text, rules: stored }).execute();
    await appendEvents(tx, [{ at: now, campaignId: accountScope, type: 'house.changed', data: { version, rules: kept } }]);
    return { version, changed: true };
  });
  const campaigns = set.changed ? (await listCampaigns(store.db)).filter(({ state }) => goingStates.includes(state)) : [];
  for (const { campaignId } of campaigns) await lockedTransaction(store, campaignId, (tx) => recheckDeferredRows(tx, campaignId, now));
  return { ...set, campaigns };
}

/** Returns whether it paused the campaign for lacking what the account rules require. */
export async function pauseForAccountRules(tx: Tx, { campaignId, rules }: Campaign, now: number): Promise<boolean> {
  const lacks = missingRequirements(rules);
  if (lacks.length === 0) return false;
  const reason = `${missingRequirementsText(lacks, rules.house?.version ?? 0)}: start a campaign that has it, or change the house rules`;
  return changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason });
}
