import type { AgentChange, AgentInput } from '../../schemas/agent-schemas.ts';
import type { Agent } from './agent.ts';
import { keepMasked } from './masked-headers.ts';
import { mergeDeep } from '../merge-deep.ts';

/**
 * What an agent would be created from after a change: see `mergeDeep`. Parts that the change leaves alone are in it only if they must be.
 */
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

/** Null takes all of it back. */
function changePart<Part extends object>(part: Part, change: object | null | undefined): Part {
  if (change === undefined) return part;
  return change === null ? ({} as Part) : mergeDeep(part, change);
}
