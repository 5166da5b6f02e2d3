import { plainBackup, type BackupChoice } from '../models/llm-labels.ts';
import { customModelId } from '../models/catalogue.ts';
import { InvalidRequest, type FieldError } from '../core/service-error.ts';
import type { AgentInput, ConversationConfig } from './agent-schemas.ts';

const defaultTtsModel = 'svc_flash_v2';

/** Fills in the contract's defaults and holds the whole to the rules that no single field can break. Throws `InvalidRequest`. */
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
  const llm = agent?.llm;
  if (llm === undefined) return;
  const llmPlace = [...place, 'agent', 'llm'];
  if (llm.model_id === customModelId && llm.custom_llm?.url === undefined) {
    const msg = 'Required, with its url, when model_id is "custom".';
    yield { loc: [...llmPlace, 'custom_llm'], msg, type: 'missing' };
  }
  if (llm.backup_llm_config !== undefined) yield* brokenBackupRules(llm.backup_llm_config, [...llmPlace, 'backup_llm_config']);
}

function* brokenBackupRules({ preference, order, model_id: modelId }: BackupChoice, place: string[]): Generator<FieldError> {
  if (order !== undefined || modelId !== undefined) return;
  const missing: { field: string; msg: string } | undefined = {
    none: { field: 'preference', msg: 'Required: default, disabled, override or custom.' },
    override: { field: 'order', msg: 'Required when preference is override: which models, in which order.' },
    custom: { field: 'model_id', msg: 'Required when preference is custom: which model.' },
  }[preference?.toLowerCase() ?? 'none'];
  if (missing !== undefined) yield { loc: [...place, missing.field], msg: missing.msg, type: 'missing' };
}

/** Reasoning holds up a reply, so steps that talk must do without (contract, language model rules). */
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
