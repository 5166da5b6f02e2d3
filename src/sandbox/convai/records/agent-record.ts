import { concealHeaders } from '../../schemas/request-schemas.ts';
import { effectiveLlm } from '../../core/conversation/effective-llm.ts';
import { temperatureBand } from '../../models/llm-labels.ts';
import type { Dialect } from '../../schemas/building-blocks.ts';
import { takesInbound, type Agent, type PhoneNumber } from '../../core/state/agent.ts';
import { isoTime, unixSeconds } from '../../core/times.ts';

/** The full agent. Its `conversation_config` can be sent back as a change: nothing in it is derived, and header values are masked. */
export function describeAgent(agent: Agent, numbers: Iterable<PhoneNumber>, dialect: Dialect): Record<string, unknown> {
  const { prompt } = agent.config.agent ?? {};
  const base = {
    agent_id: agent.agentId,
    name: agent.name,
    tags: agent.tags,
    conversation_config: concealHeaders(agent.config),
    metadata: {
      created_at: isoTime(agent.createdAt),
      updated_at: isoTime(agent.updatedAt),
      temperature_band: temperatureBand(effectiveLlm(agent.config).temperature),
    },
    knowledge_base: prompt?.knowledge_base ?? [],
    tools: prompt?.tools ?? [],
  };
  if (dialect === 'spec') return base;
  const own = [...numbers].filter((number) => number.agentId === agent.agentId);
  return {
    ...base,
    metadata: { ...base.metadata, created_at_unix_secs: unixSeconds(agent.createdAt), updated_at_unix_secs: unixSeconds(agent.updatedAt) },
    platform_settings: dialect === 'published' ? { overrides: nothingPermitted, ...agent.platform } : agent.platform,
    ...describeWorkflow(agent),
    phone_numbers: own.map((number) => describeNumber(number, agent, dialect)),
    access_info: accessInfo,
  };
}

/** What a call may change of an agent whose settings do not say it. */
const nothingPermitted = {
  conversation_config_override: {
    agent: { first_message: false, language: false, prompt: { prompt: false, llm: false } },
    conversation: { text_only: false },
    tts: { voice_id: false },
  },
  custom_llm_extra_body: false,
  enable_conversation_initiation_client_data_from_webhook: false,
};

/** Typed clients want its parts together, or none of it (gaps A.4). */
function describeWorkflow({ workflow = {} }: Agent): { workflow?: object } {
  if (Object.keys(workflow).length === 0) return {};
  return { workflow: { edges: {}, nodes: {}, prevent_subagent_loops: false, ...workflow } };
}

export function describeAgentSummary(agent: Agent, dialect: Dialect): Record<string, unknown> {
  const base = { agent_id: agent.agentId, name: agent.name, tags: agent.tags, created_at: isoTime(agent.createdAt) };
  if (dialect === 'spec') return base;
  return {
    ...base,
    created_at_unix_secs: unixSeconds(agent.createdAt),
    voice_id: agent.config.tts?.voice_id ?? '',
    archived: agent.platform.archived === true,
    access_info: accessInfo,
  };
}

/** There is one account, and all of it may be changed. */
const accessInfo = { is_creator: true, creator_name: 'Sandbox', creator_email: 'sandbox@example.test', role: 'admin' } as const;

/** Typed clients know providers by these names alone. */
const publishedProviders = ['twilio', 'sip_trunk', 'exotel'];

export function providerName(provider: string, dialect: Dialect): string {
  return dialect !== 'published' || publishedProviders.includes(provider) ? provider : 'twilio';
}

export function describeNumber(number: PhoneNumber, agent: Agent | null, dialect: Dialect): Record<string, unknown> {
  const base = { phone_number_id: number.phoneNumberId, phone_number: number.phoneNumber, label: number.label, agent_id: number.agentId };
  if (dialect === 'spec') return base;
  return {
    ...base,
    assigned_agent: agent === null ? null : { agent_id: agent.agentId, agent_name: agent.name },
    provider: providerName(number.provider, dialect),
    number_type: number.type,
    supports_inbound: takesInbound(number),
    supports_outbound: true,
    verified: number.verified,
    verification_status: number.verified ? 'verified' : 'unverified',
  };
}
