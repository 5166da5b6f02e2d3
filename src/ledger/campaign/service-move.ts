import { callingAttemptStates } from '../../rules/ledger.ts';
import { hasEnded } from '../../rules/lifecycle.ts';
import { isOwnService, isSameService, type ServiceOf } from '../../rules/service-api.ts';
import { holdAccount, lockAccount } from '../limits/account-pace.ts';
import { listCampaigns, type Campaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { listSchedules, type Schedule } from './schedules.ts';
import { lockCampaign } from '../locks.ts';
import type { Queries, Tx, Store } from '../tx.ts';

/** Started, unfinished campaigns of another service or API than `own`. */
export async function listElsewhere(db: Queries, own: ServiceOf): Promise<Campaign[]> {
  const campaigns = await listCampaigns(db);
  return campaigns.filter((campaign) => !hasEnded(campaign) && campaign.state !== 'draft' && !isOwnService(campaign, own));
}

export async function listSchedulesElsewhere(db: Queries, address: string): Promise<Schedule[]> {
  return (await listSchedules(db)).filter(({ accountId }) => !isSameService(accountId, address));
}

/** A campaign of another service than `own` with an open call of this agent. */
export async function findOpenElsewhere(
  db: Queries,
  agentId: string,
  own: ServiceOf,
): Promise<(ServiceOf & { campaignId: string }) | undefined> {
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'attempts.campaign_id')
    .select(['campaigns.campaign_id as campaignId', 'campaigns.account_id as accountId', 'campaigns.api as api'])
    .distinct()
    .where('attempts.agent_id', '=', agentId)
    .where('attempts.state', 'in', callingAttemptStates)
    .execute();
  return rows.find((campaign) => !isOwnService(campaign, own));
}

/**
 * Moves a service's campaigns, schedules and limits to its new address, as confirmed by an operator. Returns the moved campaigns.
 * Idempotent.
 */
export async function moveService(store: Store, { from, to, now }: { from: string; to: string; now: number }): Promise<Campaign[]> {
  return store.transaction(async (tx) => {
    const moving = (await listCampaigns(tx)).filter(({ accountId }) => accountId !== to && isSameService(accountId, from));
    // Fixed lock order, the account last.
    for (const { campaignId } of moving.toSorted((a, b) => (a.campaignId < b.campaignId ? -1 : 1))) await lockCampaign(tx, campaignId);
    for (const accountId of new Set(moving.map(({ accountId }) => accountId))) {
      await lockAccount(tx, accountId);
      await tx.updateTable('campaigns').set({ account_id: to }).where('account_id', '=', accountId).execute();
      await moveLimits(tx, accountId, to);
    }
    for (const { scheduleId, accountId } of await listSchedules(tx))
      if (accountId !== to && isSameService(accountId, from))
        await tx.updateTable('schedules').set({ account_id: to }).where('schedule_id', '=', scheduleId).execute();
    const events = moving.map(({ campaignId, accountId }) => {
      const data = { from: { service: accountId }, to: { service: to }, by: 'person' } as const;
      return { at: now, campaignId, type: 'account.adjusted' as const, data };
    });
    await appendEvents(tx, events);
    return moving;
  });
}

/** The new address keeps its limits; a wait that the service requested applies at either. */
async function moveLimits(tx: Tx, from: string, to: string): Promise<void> {
  const before = await tx.selectFrom('accounts').selectAll().where('account_id', '=', from).executeTakeFirst();
  if (before === undefined) return;
  await tx.deleteFrom('accounts').where('account_id', '=', from).execute();
  const insert = tx.insertInto('accounts').values({ ...before, account_id: to });
  await insert.onConflict((conflict) => conflict.doNothing()).execute();
  await holdAccount(tx, to, before.not_before);
}
