import type { ConversationConfig } from '../../schemas/agent-schemas.ts';
import { mergeDeep } from '../json.ts';
import { plainBackup, type BackupChoice, thinkingLevelOf, type ThinkingLevel, replyLatencyMs } from '../../models/llm-labels.ts';
import type { Call } from '../state/call.ts';
import { customModelId, defaultBackupModelId, defaultModelId, findModel } from '../../models/catalogue.ts';
import { Random } from '../random.ts';
import type { Turn, TurnUsage } from '../state/talk.ts';

/** Used when the agent sets none; the contract's suggestion. */
export const defaultTemperature = 0.5;
/** Default seconds before a backup takes over (gaps A.4: 2 to 15). */
const defaultCascadeSeconds = 8;

export interface EffectiveLlm {
  modelId: string;
  /** Backup models in order; empty when disabled. */
  backupModelIds: readonly string[];
  /** Real ms the primary model has for its first word, if a backup exists. */
  cascadeMs: number;
  thinking: ThinkingLevel;
  temperature: number;
  /** Header values are credentials; the endpoint receives the model's name. */
  custom: { url: string; headers: Readonly<Record<string, string>>; modelName: string } | null;
}

export function effectiveLlm(config: ConversationConfig, override?: ConversationConfig): EffectiveLlm {
  const llm = (override === undefined ? config : mergeDeep(config, override)).agent?.llm ?? {};
  const modelId = llm.model_id ?? defaultModelId;
  const endpoint = llm.custom_llm;
  return {
    modelId,
    backupModelIds: backupsFor(modelId, llm.backup_llm_config),
    cascadeMs: (llm.cascade_timeout_seconds ?? defaultCascadeSeconds) * 1_000,
    thinking: thinkingLevelOf(llm.thinking_budget ?? 0),
    temperature: llm.temperature ?? defaultTemperature,
    custom:
      modelId === customModelId
        ? { url: endpoint?.url ?? '', headers: endpoint?.extra_headers ?? {}, modelName: endpoint?.model_id ?? customModelId }
        : null,
  };
}

/** Excludes the model itself, which has just failed. */
function backupsFor(modelId: string, choice: BackupChoice = { preference: 'default' }): string[] {
  const { preference, order = [] } = plainBackup(choice);
  if (preference === 'disabled') return [];
  const isOther = (id: string): boolean => id !== modelId && id !== customModelId;
  if (preference === 'override') return order.filter(isOther);
  return [defaultBackupModelId, defaultModelId].filter(isOther).slice(0, 1);
}

/** As resolved for one call. */
export type OwnModel = NonNullable<EffectiveLlm['custom']> &
  Pick<EffectiveLlm, 'temperature' | 'backupModelIds' | 'cascadeMs'> & { thinkingMs: number };

export function ownModelOf({ agent, override }: Call): OwnModel | null {
  // Runs for every call, so settings are resolved only when needed.
  const modelId = override?.agent?.llm?.model_id ?? agent?.config.agent?.llm?.model_id;
  if (agent === null || modelId !== customModelId) return null;
  const { custom, temperature, backupModelIds, cascadeMs, thinking } = effectiveLlm(agent.config, override);
  if (custom === null) return null;
  const thinkingMs = replyLatencyMs(customModelId, thinking) - replyLatencyMs(customModelId, 'disabled');
  return { ...custom, temperature, backupModelIds, cascadeMs, thinkingMs };
}

/** The agent's words come from a model at its own address; a machine gets a fixed message. */
export function isHeldByModel(call: Call): boolean {
  return call.course?.result === 'answered' && !call.course.brokeDown && ownModelOf(call) !== null;
}

const charactersPerToken = 4;

/** Counts one turn's usage of the service's model; deterministic. */
export type UsageCounter = (turns: readonly Turn[], text: string) => TurnUsage;

export function countUsage(call: Call, prompt: string): UsageCounter {
  const llm = effectiveLlm(call.agent?.config ?? {}, call.override);
  const backup = call.course?.backupModelId;
  const modelId = backup ?? llm.modelId;
  return (turns, text) => {
    const hasEarlierUsage = turns.some(({ usage }) => usage !== undefined);
    return {
      ...estimateUsage(prompt, turns, text, { modelId, latencyMs: latencyOf(call, { ...llm, modelId }, turns.length) }),
      cachedInputTokens: hasEarlierUsage && keepsInput(modelId) ? tokensIn(prompt, turns.slice(0, -2)) : 0,
      fallback: backup !== undefined,
    };
  };
}

export function estimateUsage(
  prompt: string,
  turns: readonly Turn[],
  text: string,
  facts: Pick<TurnUsage, 'modelId' | 'latencyMs'>,
): TurnUsage {
  const tokens = { inputTokens: tokensIn(prompt, turns), cachedInputTokens: 0, outputTokens: tokensOf(text.length) };
  return { ...facts, ...tokens, fallback: false };
}

function latencyOf({ conversationId }: Call, { modelId, thinking }: EffectiveLlm, turn: number): number {
  const usual = replyLatencyMs(modelId, thinking);
  return Math.round(usual * new Random(conversationId, 'latency', turn).between(0.8, 1.3));
}

function keepsInput(modelId: string): boolean {
  const prices = findModel(modelId)?.prices;
  return prices !== undefined && prices.cachedInput < prices.input;
}

function tokensIn(prompt: string, turns: readonly Turn[]): number {
  return tokensOf(turns.reduce((sum, { text }) => sum + text.length, prompt.length));
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
