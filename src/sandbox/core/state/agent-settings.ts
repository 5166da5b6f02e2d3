import type { AgentInput } from '../../schemas/agent-schemas.ts';
import type { Agent } from './agent.ts';

type AgentSettings = Pick<Agent, 'name' | 'tags' | 'config' | 'platform'> & {
  workflow: NonNullable<Agent['workflow']>;
};

/** What a caller has set of an agent; of what it may not speak of in this dialect, `before` stays. */
export function settingsOf(input: AgentInput, before?: Agent): AgentSettings {
  return {
    name: input.name,
    tags: input.tags ?? [],
    config: input.conversation_config ?? {},
    platform: input.platform_settings ?? before?.platform ?? {},
    workflow: input.workflow ?? before?.workflow ?? {},
  };
}
