import { existing } from '../../core/service-error.ts';
import type { Service } from '../../core/service/service.ts';
import type { Campaign, CampaignLead } from '../../core/state/campaign.ts';
import { failedCourse } from '../../core/telephony/callee.ts';
import { pageOf } from '../../http/cursor.ts';
import type { RouteRequest, Handlers } from '../../http/serve-routes.ts';
import { cancelledReason } from '../records/batch-record.ts';
import {
  callStatus,
  describeIntent,
  describeLead,
  describeProgress,
  dispositionOf,
  isInFlight,
  resultOf,
} from '../records/campaign-record.ts';
import { requireCampaign } from './outbound-campaigns.ts';

interface CampaignSnapshot {
  campaign: Campaign;
  at: number;
  leads: readonly CampaignLead[];
}

export function leadRoutes(service: Service): Partial<Handlers> {
  const { clock, settings } = service;
  /** Campaign data lags: the instant shown and the leads that existed then. */
  const seen = (id: (parameter: string) => string): CampaignSnapshot => {
    const campaign = requireCampaign(service, id);
    const at = clock.now() - settings.campaigns.reportLagMs;
    return { campaign, at, leads: campaign.createdAt <= at ? campaign.leads : [] };
  };
  const requireLead = (leads: readonly CampaignLead[], id: (parameter: string) => string): CampaignLead => {
    const leadId = id('lead_id');
    const lead = leads.find((each) => each.leadId === leadId);
    return existing(lead, 'lead', leadId);
  };
  const page = (
    of: 'calls' | 'leads',
    { campaign, leads, at }: CampaignSnapshot,
    { page_size: size, cursor: from, ...filter }: RouteRequest<'list_campaign_calls' | 'list_leads'>['query'],
    parts: {
      isWanted: (lead: CampaignLead) => boolean;
      describe: (campaign: Campaign, lead: CampaignLead, at: number) => Record<string, unknown>;
    },
  ): unknown => {
    const list = { list: `${of} of ${campaign.campaignId} ${JSON.stringify(filter)}`, generation: service.generation };
    const { items, cursor } = pageOf(leads, { list, cursor: from, size, isWanted: parts.isWanted });
    return { [of]: items.map((lead) => parts.describe(campaign, lead, at)), next_cursor: cursor, has_more: cursor !== null };
  };
  return {
    get_campaign_progress: ({ id }) => {
      const { campaign, leads, at } = seen(id);
      return describeProgress(campaign, leads, at);
    },

    list_campaign_calls: ({ id, query }) => {
      const shown = seen(id);
      const isWanted = ({ leadId, call }: CampaignLead): boolean =>
        (query.lead_id === undefined || leadId === query.lead_id) &&
        (query.status === undefined || callStatus(call, shown.at) === query.status) &&
        (query.call_result?.some((result) => result === resultOf(call, shown.at)) ?? true);
      return page('calls', shown, query, { isWanted, describe: describeIntent });
    },

    list_leads: ({ id, query }) => {
      const shown = seen(id);
      const isWanted = (lead: CampaignLead): boolean => {
        const { leadId, call } = lead;
        const disposition = dispositionOf(shown.campaign, lead, shown.at);
        return (
          [leadId, call.userId ?? '', call.to].some((text) => text.includes(query.search ?? '')) &&
          (query.status === undefined || (query.status === 'finished') === (disposition !== null)) &&
          (query.disposition?.some((each) => each === disposition) ?? true)
        );
      };
      return page('leads', shown, query, { isWanted, describe: describeLead });
    },

    get_lead: ({ id }) => {
      const { campaign, leads, at } = seen(id);
      return describeLead(campaign, requireLead(leads, id), at);
    },

    remove_lead: ({ id, reply }) => {
      const campaign = requireCampaign(service, id);
      const lead = requireLead(campaign.leads, id);
      const now = clock.now();
      if (lead.call.course === null) service.network.redirect(lead.call, failedCourse(now, cancelledReason), now);
      lead.removed = true;
      campaign.updatedAt = now;
      const inFlight = isInFlight(lead.call, now);
      if (inFlight) reply.code(202);
      return { campaign_id: campaign.campaignId, lead_id: lead.leadId, has_calls_in_flight: inFlight };
    },
  };
}
