import type { FastifyInstance, FastifyRequest } from 'fastify';
import { furtherRoutes } from '../../core/operations.ts';
import type { Service } from '../../core/service/service.ts';
import { existing } from '../../core/service-error.ts';
import type { Campaign, CampaignLead } from '../../core/state/campaign.ts';
import { failedCourse } from '../../core/telephony/callee.ts';
import { listedPage } from '../../http/cursor.ts';
import { pathParameter, readQuery, serveKeyed } from '../../http/serve-operation.ts';
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

/** What a campaign tells of its leads and their calls, and the removal of one. */
export function serveLeads(app: FastifyInstance, service: Service): void {
  const { schemas, clock, settings } = service;
  /** What is shown of a campaign lags: the instant as of which it is, and the leads that were there then. */
  const seen = (campaign: Campaign): { at: number; leads: readonly CampaignLead[] } => {
    const at = clock.now() - settings.campaigns.reportLagMs;
    return { at, leads: campaign.createdAt <= at ? campaign.leads : [] };
  };

  serveKeyed(app, furtherRoutes.get_campaign_progress, (request) => {
    readQuery(request, schemas.noQuery);
    const campaign = wantedCampaign(service, request);
    const { at, leads } = seen(campaign);
    return describeProgress(campaign, leads, at);
  });

  serveKeyed(app, furtherRoutes.list_campaign_calls, (request) => {
    const { page_size: size, cursor, ...filter } = readQuery(request, schemas.campaignCallPage);
    const campaign = wantedCampaign(service, request);
    const { at, leads } = seen(campaign);
    const isWanted = ({ leadId, call }: CampaignLead): boolean => {
      if (filter.lead_id !== undefined && leadId !== filter.lead_id) return false;
      if (filter.status !== undefined && callStatus(call, at) !== filter.status) return false;
      return filter.call_result === undefined || filter.call_result.some((result) => result === resultOf(call, at));
    };
    const list = listOf('calls', campaign, filter);
    const { items, ...page } = listedPage(leads, { list, cursor, size, isWanted });
    return { calls: items.map((lead) => describeIntent(campaign, lead, at)), ...page };
  });

  serveKeyed(app, furtherRoutes.list_leads, (request) => {
    const { page_size: size, cursor, ...filter } = readQuery(request, schemas.leadPage);
    const campaign = wantedCampaign(service, request);
    const { at, leads } = seen(campaign);
    const isWanted = (lead: CampaignLead): boolean => {
      const { leadId, call } = lead;
      const disposition = dispositionOf(campaign, lead, at);
      if (![leadId, call.userId ?? '', call.to].some((text) => text.includes(filter.search ?? ''))) return false;
      if (filter.status !== undefined && (filter.status === 'finished') !== (disposition !== null)) return false;
      return filter.disposition === undefined || filter.disposition.some((wanted) => wanted === disposition);
    };
    const list = listOf('leads', campaign, filter);
    const { items, ...page } = listedPage(leads, { list, cursor, size, isWanted });
    return { leads: items.map((lead) => describeLead(campaign, lead, at)), ...page };
  });

  serveKeyed(app, furtherRoutes.get_lead, (request) => {
    readQuery(request, schemas.noQuery);
    const campaign = wantedCampaign(service, request);
    const { at, leads } = seen(campaign);
    return describeLead(campaign, wantedLead(leads, request), at);
  });

  serveKeyed(app, furtherRoutes.remove_lead, (request, reply) => {
    readQuery(request, schemas.noQuery);
    const campaign = wantedCampaign(service, request);
    const lead = wantedLead(campaign.leads, request);
    const now = clock.now();
    if (lead.call.course === null) service.network.redirect(lead.call, failedCourse(now, cancelledReason), now);
    lead.removed = true;
    campaign.updatedAt = now;
    const inFlight = isInFlight(lead.call, now);
    if (inFlight) reply.code(202);
    return { campaign_id: campaign.campaignId, lead_id: lead.leadId, has_calls_in_flight: inFlight };
  });

  function listOf(of: string, { campaignId }: Campaign, filter: object): { list: string; generation: number } {
    return { list: `${of} of ${campaignId} ${JSON.stringify(filter)}`, generation: service.generation };
  }
}

export function wantedCampaign({ state }: Service, request: FastifyRequest): Campaign {
  const id = pathParameter(request, 'campaign_id');
  return existing(state.campaigns.get(id), 'campaign', id);
}

function wantedLead(leads: readonly CampaignLead[], request: FastifyRequest): CampaignLead {
  const id = pathParameter(request, 'lead_id');
  return existing(
    leads.find(({ leadId }) => leadId === id),
    'lead',
    id,
  );
}
