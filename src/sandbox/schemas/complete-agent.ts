import { plainBackup } from '../models/llm-labels.ts';
import { customModelId } from '../models/catalogue.ts';
import { InvalidRequest, type FieldError } from '../core/service-error.ts';
import type { AgentInput, ConversationConfig } from './agent-schemas.ts';

const defaultTtsModel = 'svc_flash_v2';

/** Fills in the contract's defaults. Throws `InvalidRequest`. */
export function completeAgent(input: AgentInput): AgentInput {
  const config = input.conversation_config ?? {};
  const problems = [...brokenConfigRules(config), ...brokenStepRules(input)];
  if (problems.length > 0) throw new InvalidRequest(problems);
  return { ...input, conversation_config: completeConfig(config) };
}

function completeConfig(config: ConversationConfig): ConversationConfig {
  const { tts, agent } = config;
  const backup = agent?.llm?.backup_llm_config;
  return {
    ...config,
    ...(tts === undefined ? {} : { tts: { model_id: defaultTtsModel, ...tts } }),
    ...(backup === undefined ? {} : { agent: { ...agent, llm: { ...agent?.llm, backup_llm_config: plainBackup(backup) } } }),
  };
}

function* brokenConfigRules({ tts, agent }: ConversationConfig): Generator<FieldError> {
  const place = ['body', 'conversation_config'];
  if (tts !== undefined && tts.voice_id === undefined)
    yield { loc: [...place, 'tts', 'voice_id'], msg: 'Required when tts is given.', type: 'missing' };
  if (agent?.llm?.model_id === customModelId && agent.llm.custom_llm?.url === undefined)
    yield { loc: [...place, 'agent', 'llm', 'custom_llm'], msg: 'Required, with its url, when model_id is "custom".', type: 'missing' };
}

/** Reasoning delays replies, so steps that talk must not use it (contract, language model rules). */
function* brokenStepRules({ workflow }: AgentInput): Generator<FieldError> {
  for (const [id, { real_time: realTime, reasoning_effort: effort }] of Object.entries(workflow?.nodes ?? {})) {
    if (effort === undefined || effort.toLowerCase() === 'none' || realTime === false) continue;
    yield {
      loc: ['body', 'workflow', 'nodes', id, 'reasoning_effort'],
      msg: 'Must be none on a step that talks in real time. Set real_time to false if this one does not.',
      type: 'real_time_reasoning',
      input: effort,
    };
  }
}
