import { concealHeaders } from '../../schemas/request-schemas.ts';
import { effectiveLlm } from '../../core/conversation/effective-llm.ts';
import { temperatureBand } from '../../models/llm-labels.ts';
import type { DialectFacts } from '../../core/dialects.ts';
import { takesInbound, type Agent, type PhoneNumber } from '../../core/state/agent.ts';
import { isoTime, unixSeconds } from '../../core/times.ts';

/** `conversation_config` can be sent back as a change: nothing is derived, header values are masked. */
export function describeAgent(agent: Agent, numbers: Iterable<PhoneNumber>, facts: DialectFacts): Record<string, unknown> {
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
  if (!facts.further) return base;
  const own = [...numbers].filter((number) => number.agentId === agent.agentId);
  return {
    ...base,
    metadata: { ...base.metadata, created_at_unix_secs: unixSeconds(agent.createdAt), updated_at_unix_secs: unixSeconds(agent.updatedAt) },
    platform_settings: { ...facts.permitted, ...agent.platform },
    ...describeWorkflow(agent),
    phone_numbers: own.map((number) => describeNumber(number, agent, facts)),
    access_info: accessInfo,
  };
}

/** All parts or none: typed clients require them together (gaps A.4). */
function describeWorkflow({ workflow = {} }: Agent): { workflow?: object } {
  if (Object.keys(workflow).length === 0) return {};
  return { workflow: { edges: {}, nodes: {}, prevent_subagent_loops: false, ...workflow } };
}

export function describeAgentSummary(agent: Agent, facts: DialectFacts): Record<string, unknown> {
  const base = { agent_id: agent.agentId, name: agent.name, tags: agent.tags, created_at: isoTime(agent.createdAt) };
  if (!facts.further) return base;
  return {
    ...base,
    created_at_unix_secs: unixSeconds(agent.createdAt),
    voice_id: agent.config.tts?.voice_id ?? '',
    archived: agent.platform.archived === true,
    access_info: accessInfo,
  };
}

/** There is one account, with full rights. */
const accessInfo = { is_creator: true, creator_name: 'Sandbox', creator_email: 'sandbox@example.test', role: 'admin' } as const;

export function providerName(name: string, { provider, providers }: DialectFacts): string {
  return providers === null || providers.includes(name) ? name : provider;
}

export function describeNumber(number: PhoneNumber, agent: Agent | null, facts: DialectFacts): Record<string, unknown> {
  const base = { phone_number_id: number.phoneNumberId, phone_number: number.phoneNumber, label: number.label, agent_id: number.agentId };
  if (!facts.further) return base;
  return {
    ...base,
    assigned_agent: agent === null ? null : { agent_id: agent.agentId, agent_name: agent.name },
    provider: providerName(number.provider, facts),
    number_type: number.type,
    supports_inbound: takesInbound(number),
    supports_outbound: true,
    verified: number.verified,
    verification_status: number.verified ? 'verified' : 'unverified',
  };
}
