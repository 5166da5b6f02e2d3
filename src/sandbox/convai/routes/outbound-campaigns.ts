import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { deriveId } from '../../core/random.ts';
import { findAgent } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import { conflict, existing } from '../../core/service-error.ts';
import type { Campaign } from '../../core/state/campaign.ts';
import { failedCourse } from '../../core/telephony/callee.ts';
import { pageOf } from '../../http/cursor.ts';
import type { Handlers } from '../../http/serve-routes.ts';
import type { BatchInput, CallTarget, RequestSchemas } from '../../schemas/request-schemas.ts';
import { refuseField } from '../../schemas/validate.ts';
import { cancelledReason } from '../records/batch-record.ts';
import { campaignStatus, describeCampaign } from '../records/campaign-record.ts';
import { acceptBatch, announceAccepted, readClientData, refuseBadTargets, ringLimit } from './batch-calls.ts';
import { youngestListed } from './conversations.ts';

/** As published for Python, simple variant only: one call per recipient. */
export function campaignRoutes(service: Service): Partial<Handlers> {
  const { clock, settings } = service;
  const describe = (campaign: Campaign): Record<string, unknown> => describeCampaign(campaign, service.state, clock.now());
  return {
    submit_campaign: async ({ request, reply, body }) => {
      const input = body();
      refuseWhatIsNotServed(input);
      const known = findRepeated(service, input);
      if (known === undefined) reply.code(201);
      const campaign = known ?? (await createCampaign(service, input, request));
      return {
        campaign: describe(campaign),
        created: known === undefined,
        within_calling_window: (campaign.scheduledAt ?? 0) <= clock.now(),
      };
    },

    list_campaigns: ({ request, query: { page_size: size, cursor: from, status, agent_id: agentId, channel, mode, search } }) => {
      const now = clock.now();
      const shownUntil = Math.min(now - settings.campaigns.listLagMs, youngestListed(request, now));
      const { items, cursor } = pageOf(service.state.campaigns.values(), {
        list: { list: `campaigns ${JSON.stringify([status, agentId, channel, mode, search])}`, generation: service.generation },
        cursor: from,
        size,
        isWanted: (campaign) =>
          campaign.createdAt <= shownUntil &&
          (status?.includes(campaignStatus(campaign, now)) ?? true) &&
          (agentId === undefined || campaign.agentId === agentId) &&
          channel !== 'whatsapp' &&
          mode !== 'message' &&
          campaign.name.toLowerCase().includes((search ?? '').toLowerCase()),
      });
      return { campaigns: items.map(describe), next_cursor: cursor, has_more: cursor !== null };
    },

    get_campaign: ({ id }) => describe(requireCampaign(service, id)),

    pause_campaign: ({ id }) => {
      const campaign = requireCampaign(service, id);
      refuseWhenOver(campaign, service);
      setStanding(campaign, 'paused', service);
      return describe(campaign);
    },

    resume_campaign: ({ id }) => {
      const campaign = requireCampaign(service, id);
      refuseWhenOver(campaign, service);
      setStanding(campaign, 'running', service);
      // Lines may be free for calls that the pause held back.
      service.network.queue([], clock.now());
      return describe(campaign);
    },

    stop_campaign: ({ id, reply }) => {
      const campaign = requireCampaign(service, id);
      if (stop(campaign, service) === 'stopping') reply.code(202);
      return describe(campaign);
    },

    pause_campaigns: () => {
      const running = inStatus(service, ['active']);
      for (const campaign of running) setStanding(campaign, 'paused', service);
      return { paused_campaign_ids: running.map(({ campaignId }) => campaignId) };
    },

    stop_campaigns: ({ reply }) => {
      const open = inStatus(service, ['active', 'paused']).map((campaign) => ({
        id: campaign.campaignId,
        status: stop(campaign, service),
      }));
      const idsIn = (expected: string): string[] => open.filter(({ status }) => status === expected).map(({ id }) => id);
      if (idsIn('stopping').length > 0) reply.code(202);
      return { stopped_campaign_ids: idsIn('stopped'), stopping_campaign_ids: idsIn('stopping') };
    },
  };
}

export function requireCampaign({ state }: Service, id: (parameter: string) => string): Campaign {
  const campaignId = id('campaign_id');
  return existing(state.campaigns.get(campaignId), 'campaign', campaignId);
}

type CampaignInput = ReturnType<RequestSchemas['submitCampaign']['parse']>;

function refuseWhatIsNotServed({ policy, variant, recipients }: CampaignInput): void {
  if (policy != null && variant === 'simple')
    throw refuseField(['body', 'policy'], 'A simple campaign takes no policy; leave one of the two out.', 'policy_not_allowed');
  if (variant !== 'simple') {
    const message = 'This workspace has no campaign configuration, and the sandbox runs no advanced campaigns. Send "simple".';
    throw refuseField(['body', 'variant'], message, 'campaign_configuration_missing', variant ?? undefined);
  }
  const index = recipients.findIndex((recipient) => numbersOf(recipient).length === 0);
  if (index >= 0) throw refuseField(['body', 'recipients', index, 'phone_number'], 'Field required', 'missing');
}

function numbersOf({ phone_number: first, phone_numbers: more }: CampaignInput['recipients'][number]): string[] {
  return [...(first == null ? [] : [first]), ...(more ?? [])];
}

/** A repeat is recognised by its idempotency key, else by its body. */
function marksOf({ idempotency_key: key, ...body }: CampaignInput): { key: string; bodyDigest: string } {
  const bodyDigest = createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22);
  return { key: key == null ? `body ${bodyDigest}` : `key ${key}`, bodyDigest };
}

/** An earlier equal request's campaign. Throws 409 for a known key with another body, if so configured. */
function findRepeated({ state, clock, settings }: Service, input: CampaignInput): Campaign | undefined {
  const { keyKeptMs, otherBody } = settings.campaigns;
  const { key, bodyDigest } = marksOf(input);
  const keptSince = keyKeptMs === null ? -Infinity : clock.now() - keyKeptMs;
  const known = [...state.campaigns.values()].findLast((campaign) => campaign.key === key && campaign.createdAt > keptSince);
  if (known !== undefined && known.bodyDigest !== bodyDigest && otherBody === 'conflict')
    throw conflict('idempotency_key_reused', `The key made campaign ${known.campaignId} with another body.`, 'idempotency_key');
  return known;
}

async function createCampaign(service: Service, input: CampaignInput, request: FastifyRequest): Promise<Campaign> {
  const { clock, settings, state } = service;
  const { agent_id: agentId, channel_config: channel, target_concurrency_limit: targetConcurrency = null } = input;
  const now = clock.now();
  const numberOfCampaign = state.count('campaigns');
  const campaignId = deriveId('camp', settings.seed, numberOfCampaign);
  const planned = input.recipients.map((recipient, index) => {
    const leadId = deriveId('lead', campaignId, index);
    return { leadId, intentId: deriveId('intent', leadId), phoneNumbers: numbersOf(recipient), recipient };
  });
  const { recipientIds, schedule } = settings.campaigns;
  const batch: BatchInput = {
    agent_id: agentId,
    from_phone_number_id: channel.agent_phone_number_id,
    calls: planned.map(({ leadId, intentId, phoneNumbers, recipient: { id, conversation_initiation_client_data: data } }): CallTarget => ({
      recipient_id: recipientIds === 'everywhere' ? (id ?? intentId) : intentId,
      campaign: { campaignId, leadId },
      to_phone_number: phoneNumbers[0] ?? '',
      ...readClientData(data),
    })),
  };
  refuseBadTargets(batch, (index) => ['recipients', index, 'phone_number']);
  findAgent(service, agentId, 'agent_id');
  const scheduledAt = input.scheduled_time_unix == null ? null : input.scheduled_time_unix * 1000;
  const dialAt = schedule === 'ignored' ? now : Math.max(now, scheduledAt ?? 0);
  const accepted = acceptBatch(service, batch, request, {
    dialAt,
    lines: targetConcurrency ?? 'share',
    ringLimitMs: ringLimit(channel.mode_config),
  });
  const campaign: Campaign = {
    campaignId,
    ...marksOf(input),
    name: input.call_name,
    agentId,
    phoneNumberId: channel.agent_phone_number_id,
    modeConfig: channel.mode_config ?? null,
    createdAt: now,
    scheduledAt,
    timezone: input.timezone ?? null,
    branchId: input.branch_id ?? null,
    environment: input.environment ?? null,
    targetConcurrency,
    leads: accepted.calls.flatMap((call, index) => {
      const lead = planned[index];
      if (lead === undefined) return [];
      const { recipient, ...facts } = lead;
      return [{ ...facts, recipientId: recipientIds === 'nowhere' ? null : (recipient.id ?? null), call, removed: false }];
    }),
    standing: 'running',
    updatedAt: now,
  };
  state.campaigns.set(campaignId, campaign);
  await announceAccepted(request, service, accepted);
  return campaign;
}

function refuseWhenOver(campaign: Campaign, { clock }: Service): void {
  const status = campaignStatus(campaign, clock.now());
  if (status === 'active' || status === 'paused') return;
  throw conflict('campaign_not_running', `The campaign ${campaign.campaignId} is ${status}; nothing of it is to be called any more.`);
}

function inStatus({ state, clock }: Service, statuses: readonly string[]): Campaign[] {
  return [...state.campaigns.values()].filter((campaign) => statuses.includes(campaignStatus(campaign, clock.now())));
}

function setStanding(campaign: Campaign, standing: Campaign['standing'], { clock }: Service): void {
  if (campaign.standing === standing) return;
  campaign.standing = standing;
  campaign.updatedAt = clock.now();
}

/** Cancels queued calls; a completed campaign stays as it is. */
function stop(campaign: Campaign, service: Service): string {
  const { clock, network, settings } = service;
  const now = clock.now();
  if (campaignStatus(campaign, now) !== 'completed') {
    setStanding(campaign, 'stopped', service);
    for (const { call } of campaign.leads) {
      const isTooLate = settings.campaigns.stopOfScheduled === 'too_late' && (call.notBefore ?? 0) > now;
      if (call.course === null && !isTooLate) network.redirect(call, failedCourse(now, cancelledReason), now);
    }
  }
  return campaignStatus(campaign, now);
}
