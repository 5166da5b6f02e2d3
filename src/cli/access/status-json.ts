import type { CampaignStatus } from '../../ledger/campaign/campaign-status.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';

/** A campaign's status for programs; instants in ISO 8601, of service time. */
export function statusAsJson(campaign: Campaign, status: CampaignStatus): Record<string, unknown> {
  const { campaignId, name, state, stateReason, round, createdAt, rowsRejected } = campaign;
  return {
    campaignId,
    name,
    state,
    stateReason,
    round,
    createdAt: new Date(createdAt).toISOString(),
    ...status,
    rejected: rowsRejected,
    nextDueAt:
      status.nextDueAt === null ? null : new Date(Math.max(status.nextDueAt, campaign.createdAt)).toISOString(),
  };
}
