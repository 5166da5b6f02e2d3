import type { Campaign, CampaignLead } from '../../core/state/campaign.ts';
import { stateOf, type Call } from '../../core/state/call.ts';
import type { ServiceState } from '../../core/state/service-state.ts';
import { unixSeconds } from '../../core/times.ts';
import { lastUpdate, recipientStatus } from './batch-record.ts';
import { sentAlong } from './conversation-record.ts';

/** As of `now`; data on single calls is reported elsewhere, with the report lag. */
export function describeCampaign(campaign: Campaign, state: ServiceState, now: number): Record<string, unknown> {
  const { leads, scheduledAt } = campaign;
  return {
    campaign_id: campaign.campaignId,
    call_name: campaign.name,
    agent_id: campaign.agentId,
    agent_name: state.agents.get(campaign.agentId)?.name ?? '',
    channel: 'phone',
    mode: 'voice',
    channel_config: { channel: 'phone', agent_phone_number_id: campaign.phoneNumberId, mode_config: campaign.modeConfig },
    status: campaignStatus(campaign, now),
    policy: {
      timezone: campaign.timezone ?? 'UTC',
      retry: { max_short_retries: 0, max_total_calls: 1, max_callbacks: 0, max_redirects: 0 },
      calling_periods: [{ weekdays: [0, 1, 2, 3, 4, 5, 6], intervals: [{ start: '00:00', end: '24:00' }] }],
      data_collection: {},
      followup_context: {},
    },
    variant: 'simple',
    source: 'api',
    created_at_unix: unixSeconds(campaign.createdAt),
    scheduled_time_unix: scheduledAt === null ? null : unixSeconds(scheduledAt),
    updated_at_unix: Math.max(unixSeconds(campaign.updatedAt), ...leads.map(({ call }) => lastUpdate(call, now))),
    branch_id: campaign.branchId,
    environment: campaign.environment,
    target_concurrency_limit: campaign.targetConcurrency,
    counts: {
      leads: leads.length,
      terminal_leads: leads.filter((lead) => dispositionOf(campaign, lead, now) !== null).length,
      open_attention: 0,
    },
  };
}

export function campaignStatus(campaign: Campaign, now: number): 'active' | 'paused' | 'stopping' | 'stopped' | 'completed' {
  const { leads, standing } = campaign;
  if (standing === 'stopped') return leads.every(({ call }) => hasEnded(call, now)) ? 'stopped' : 'stopping';
  if (leads.every((lead) => dispositionOf(campaign, lead, now) !== null)) return 'completed';
  return standing === 'paused' ? 'paused' : 'active';
}

function hasEnded(call: Call, at: number): boolean {
  return !['pending', 'initiated', 'in_progress'].includes(recipientStatus(call, at));
}

/** Under way, so a cancellation no longer reaches it. */
export function isInFlight(call: Call, now: number): boolean {
  return recipientStatus(call, now) !== 'pending' && !hasEnded(call, now);
}

/** Why a lead gets no further call; null while it may, or until its call is analysed. */
export function dispositionOf({ standing }: Campaign, { call, removed }: CampaignLead, at: number): string | null {
  const status = recipientStatus(call, at);
  if (removed && (status === 'pending' || status === 'cancelled')) return 'removed';
  if (status === 'cancelled') return standing === 'stopped' ? 'campaign_ended' : 'cancelled';
  if (!hasEnded(call, at) || stateOf(call, at) === 'processing') return null;
  return status === 'failed' ? 'attempt_ceiling_reached' : 'completed';
}

type CallStatus = 'queued' | 'submitted' | 'completed' | 'cancelled';

export function callStatus(call: Call, at: number): CallStatus {
  const status = recipientStatus(call, at);
  if (status === 'pending') return 'queued';
  if (status === 'cancelled') return 'cancelled';
  return hasEnded(call, at) ? 'completed' : 'submitted';
}

export function resultOf(call: Call, at: number): string | null {
  return callStatus(call, at) === 'completed' ? (call.course?.result ?? null) : null;
}

export function describeIntent(campaign: Campaign, lead: CampaignLead, at: number): Record<string, unknown> {
  const { call } = lead;
  const ended = hasEnded(call, at);
  return {
    intent_id: lead.intentId,
    lead_id: lead.leadId,
    intent_type: 'initial',
    cold_attempt: 1,
    status: callStatus(call, at),
    phone_number: call.to,
    scheduled_time_unix: unixSeconds(campaign.scheduledAt ?? campaign.createdAt),
    conversation_id: call.recordedAt === null || call.recordedAt > at || call.recordDeleted ? null : call.conversationId,
    outcome: ended ? recipientStatus(call, at) : null,
    call_result: resultOf(call, at),
    outcome_at_unix: ended ? unixSeconds(call.course?.endedAt ?? at) : null,
    decision_disposition: decisionOf(dispositionOf(campaign, lead, at)),
    collected_dynamic_variables: null,
    delivery: null,
  };
}

function decisionOf(disposition: string | null): string | null {
  return disposition === 'removed' || disposition === 'campaign_ended' ? 'cancelled' : disposition;
}

export function describeLead(campaign: Campaign, lead: CampaignLead, at: number): Record<string, unknown> {
  const { call } = lead;
  const { dynamic_variables: variables } = sentAlong(call);
  const { agent, tts } = call.override ?? {};
  const disposition = dispositionOf(campaign, lead, at);
  const called = recipientStatus(call, at) !== 'pending' && call.dialedAt !== null;
  return {
    lead_id: lead.leadId,
    recipient_id: lead.recipientId,
    phone_number: call.to,
    phone_numbers: lead.phoneNumbers,
    phone_numbers_index: 0,
    user_id: call.userId ?? call.to,
    attempt_count: called ? 1 : 0,
    failure_count: recipientStatus(call, at) === 'failed' ? 1 : 0,
    callback_count: 0,
    redirect_count: 0,
    do_not_call: lead.removed || (campaign.standing === 'stopped' && (disposition === null || disposition === 'campaign_ended')),
    terminal_disposition: disposition,
    created_at_unix: unixSeconds(campaign.createdAt),
    updated_at_unix: lastUpdate(call, at),
    dynamic_variables: variables,
    overrides: {
      language: agent?.language ?? null,
      first_message: agent?.first_message ?? null,
      prompt: agent?.prompt?.prompt ?? null,
      voice_id: tts?.voice_id ?? null,
    },
    delivery: null,
  };
}

export function describeProgress(campaign: Campaign, leads: readonly CampaignLead[], at: number): Record<string, unknown> {
  const dispositions = leads.map((lead) => dispositionOf(campaign, lead, at));
  const open = leads.filter((_, index) => dispositions[index] === null);
  const uncalled = open.filter(({ call }) => recipientStatus(call, at) === 'pending').length;
  const finished = dispositions.filter((disposition) => disposition !== null);
  const dueAt = Math.max(campaign.scheduledAt ?? campaign.createdAt, at);
  return {
    leads: {
      total: leads.length,
      uncalled,
      leads_needing_attention: 0,
      active: open.length - uncalled,
      finished: finished.length,
      finished_by_disposition: Object.fromEntries(
        [...new Set(finished)].map((name) => [name, finished.filter((other) => other === name).length]),
      ),
    },
    conversations: {
      scheduled: uncalled,
      scheduled_by_type: uncalled === 0 ? {} : { initial: uncalled },
      awaiting_permission: 0,
      in_progress: open.filter(({ call }) => isInFlight(call, at)).length,
      awaiting_analysis: open.filter(({ call }) => hasEnded(call, at)).length,
    },
    next_call_time_unix: uncalled === 0 || campaign.standing !== 'running' ? null : unixSeconds(dueAt),
  };
}
