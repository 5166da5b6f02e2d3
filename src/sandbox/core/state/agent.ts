import type { ConversationConfig, PlatformSettings, Workflow, AgentChange, AgentInput } from '../../schemas/agent-schemas.ts';
import { mergeDeep } from '../json.ts';
import { concealed } from '../../schemas/request-schemas.ts';
import { refuseField } from '../../schemas/validate.ts';

/** Immutable: a call keeps the agent it was dialled with. */
export interface Agent {
  readonly agentId: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly config: ConversationConfig;
  readonly platform: PlatformSettings;
  readonly workflow?: Workflow;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const numberTypes = ['purchased', 'verified_caller_id'] as const;
export type NumberType = (typeof numberTypes)[number];

export interface PhoneNumber {
  readonly phoneNumberId: string;
  readonly phoneNumber: string;
  readonly label: string;
  readonly type: NumberType;
  readonly provider: string;
  readonly accountSid: string | null;
  agentId: string | null;
  verified: boolean;
}

/** Purchased numbers only: a verified caller id is only shown on outbound calls (contract, number types). */
export function takesInbound({ type }: PhoneNumber): boolean {
  return type === 'purchased';
}

/** What an agent would be created from after a change (`mergeDeep`); unchanged parts only where required. */
export function changeAgent(agent: Agent, change: AgentChange): AgentInput {
  const { conversation_config: config, platform_settings: platform, workflow, ...plain } = change;
  return mergeDeep<AgentInput>(
    {
      name: agent.name,
      tags: [...agent.tags],
      conversation_config: changePart(agent.config, keepMasked(agent.config, config)),
      ...(platform === undefined ? {} : { platform_settings: changePart(agent.platform, platform) }),
      ...(workflow === undefined ? {} : { workflow: changePart(agent.workflow ?? {}, workflow) }),
    },
    plain,
  );
}

function changePart<Part extends object>(part: Part, change: object | null | undefined): Part {
  if (change === undefined) return part;
  return change === null ? ({} as Part) : mergeDeep(part, change);
}

type AgentSettings = Pick<Agent, 'name' | 'tags' | 'config' | 'platform'> & { workflow: NonNullable<Agent['workflow']> };

export function settingsOf(input: AgentInput, before?: Agent): AgentSettings {
  return {
    name: input.name,
    tags: input.tags ?? [],
    config: input.conversation_config ?? {},
    platform: input.platform_settings ?? before?.platform ?? {},
    workflow: input.workflow ?? before?.workflow ?? {},
  };
}

interface HeaderChange {
  agent?: { llm?: { custom_llm?: { extra_headers?: Record<string, string | null> | null } | null } | null } | null;
}

/** Drops masked header values, so that a read agent can be sent back. Throws 422 when none is stored. */
export function keepMasked(kept: ConversationConfig, change: object | null | undefined): object | null | undefined {
  const { agent } = (change ?? {}) as HeaderChange;
  const headers = agent?.llm?.custom_llm?.extra_headers;
  if (headers == null) return change;
  const keptHeaders = kept.agent?.llm?.custom_llm?.extra_headers ?? {};
  const masked = Object.keys(headers).filter((name) => headers[name] === concealed);
  const unknown = masked.find((name) => !Object.hasOwn(keptHeaders, name));
  if (unknown !== undefined) {
    const loc = ['body', 'conversation_config', 'agent', 'llm', 'custom_llm', 'extra_headers', unknown];
    throw refuseField(loc, `"${concealed}" stands for a value that is kept, and none is; send the value itself.`, 'masked_value');
  }
  const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => !masked.includes(name)));
  const customLlm = { ...agent?.llm?.custom_llm, extra_headers: rest };
  return { ...change, agent: { ...agent, llm: { ...agent?.llm, custom_llm: customLlm } } };
}

/** Most simultaneous calls of an agent, by upstream's setting; null: only the lines limit it. */
export function concurrencyOf(agent: Agent | undefined): number | null {
  const limits = agent?.platform['call_limits'] as Record<string, unknown> | null | undefined;
  const limit = limits?.['agent_concurrency_limit'];
  return typeof limit === 'number' && limit > 0 ? limit : null;
}
