import type { Dialect } from '../schemas/building-blocks.ts';
import type { Agent, PhoneNumber } from '../state/agent.ts';
import { isoTime, unixSeconds } from './times.ts';

export function describeAgent(agent: Agent, numbers: Iterable<PhoneNumber>, dialect: Dialect): Record<string, unknown> {
  const base = {
    agent_id: agent.agentId,
    name: agent.name,
    tags: agent.tags,
    conversation_config: agent.config,
    metadata: { created_at: isoTime(agent.createdAt), updated_at: isoTime(agent.updatedAt) },
    knowledge_base: [],
    tools: [],
  };
  if (dialect === 'spec') return base;
  const own = [...numbers].filter((number) => number.agentId === agent.agentId);
  return {
    ...base,
    metadata: {
      ...base.metadata,
      created_at_unix_secs: unixSeconds(agent.createdAt),
      updated_at_unix_secs: unixSeconds(agent.updatedAt),
    },
    platform_settings: agent.platform,
    phone_numbers: own.map((number) => describeNumber(number, null, dialect)),
  };
}

export function describeAgentSummary(agent: Agent, dialect: Dialect): Record<string, unknown> {
  const base = { agent_id: agent.agentId, name: agent.name, tags: agent.tags, created_at: isoTime(agent.createdAt) };
  if (dialect === 'spec') return base;
  return { ...base, created_at_unix_secs: unixSeconds(agent.createdAt), voice_id: agent.config.tts?.voice_id ?? null };
}

export function describeNumber(number: PhoneNumber, agent: Agent | null, dialect: Dialect): Record<string, unknown> {
  const base = {
    phone_number_id: number.phoneNumberId,
    phone_number: number.phoneNumber,
    label: number.label,
    agent_id: number.agentId,
  };
  if (dialect === 'spec') return base;
  return {
    ...base,
    assigned_agent: agent === null ? null : { agent_id: agent.agentId, agent_name: agent.name },
    verified: number.verified,
    verification_status: number.verified ? 'verified' : 'unverified',
  };
}
