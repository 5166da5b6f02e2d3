import { type ConversationConfig, audioFormats, type AudioFormat } from '../../schemas/agent-schemas.ts';
import { mergeDeep } from '../json.ts';
import type { Call } from '../state/call.ts';
import { languageOfTag, type Language } from '../world/person.ts';
import type { CallVariables } from '../../schemas/request-schemas.ts';

export function configOf({ agent, override }: Call): ConversationConfig {
  const config = agent?.config ?? {};
  return override === undefined ? config : mergeDeep(config, override);
}

interface InnerSettings {
  agent?: {
    language?: string | null;
    /** Upstream keeps the defaults of variables in here, as `dynamic_variable_placeholders`. */
    dynamic_variables?: Record<string, unknown> | null;
  } | null;
  turn?: Record<string, unknown> | null;
  conversation?: Record<string, unknown> | null;
}

export function innerSettings(config: ConversationConfig | undefined): InnerSettings {
  return (config ?? {}) as InnerSettings;
}

/** Unsupported languages count as English. */
export function languageOfAgent(config: ConversationConfig): Language {
  return languageOfTag(innerSettings(config).agent?.language ?? undefined) ?? 'en';
}

const defaultMaxSeconds = 600;
const defaultTurnTimeoutSeconds = 7;

/** Longest call in ms (gaps A.4: `conversation.max_duration_seconds`). */
export function maxDurationMs(config: ConversationConfig): number {
  return positive(innerSettings(config).conversation?.['max_duration_seconds'], defaultMaxSeconds) * 1_000;
}

/** How long the agent waits before asking again, in ms (gaps A.4: `turn.turn_timeout`). */
export function turnTimeoutMs(config: ConversationConfig): number {
  return positive(innerSettings(config).turn?.['turn_timeout'], defaultTurnTimeoutSeconds) * 1_000;
}

/** Silence in ms after which the agent ends the call (gaps A.4: `turn.silence_end_call_timeout`); null: never. */
export function silenceLimitMs(config: ConversationConfig): number | null {
  const seconds = innerSettings(config).turn?.['silence_end_call_timeout'];
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : null;
}

function positive(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : otherwise;
}

const usual: AudioFormat = 'pcm_16000';

/** Format of the agent's audio: `tts.agent_output_audio_format`. */
export function outputFormat({ tts }: ConversationConfig): AudioFormat {
  return formatNamed((tts as Record<string, unknown> | undefined)?.['agent_output_audio_format']);
}

/** Assumed format of the client's audio: `asr.user_input_audio_format`. */
export function inputFormat({ asr }: ConversationConfig): AudioFormat {
  return formatNamed(asr?.['user_input_audio_format']);
}

function formatNamed(name: unknown): AudioFormat {
  return audioFormats.find((format) => format === name) ?? usual;
}

const placeholder = /\{\{\s*([\w.-]+)\s*\}\}/g;

export function fillIn(text: string, variables: () => CallVariables): string {
  if (!text.includes('{{')) return text;
  const values = variables();
  return text.replaceAll(placeholder, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/** `{{name}}` values: the agent's defaults, then the call's, then `system__` names (gaps A.4). */
export function variablesOf(call: Call): CallVariables {
  return { ...defaultsOf(call), ...call.variables, ...systemVariables(call) };
}

function defaultsOf({ agent, override }: Call): CallVariables {
  return {
    ...placeholdersOf(innerSettings(agent?.config).agent?.dynamic_variables),
    ...placeholdersOf(innerSettings(override).agent?.dynamic_variables),
  };
}

function placeholdersOf(given: Record<string, unknown> | null | undefined): CallVariables {
  const placeholders = given?.['dynamic_variable_placeholders'];
  if (typeof placeholders !== 'object' || placeholders === null) return {};
  const values: CallVariables = {};
  for (const [name, value] of Object.entries(placeholders as Record<string, unknown>))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') values[name] = value;
  return values;
}

function systemVariables(call: Call): CallVariables {
  const outbound = call.direction === 'outbound';
  const own = call.agentNumber ?? '';
  return {
    system__agent_id: call.agentId,
    system__conversation_id: call.conversationId,
    system__caller_id: outbound ? own : call.to,
    system__called_number: outbound ? call.to : own,
    system__call_duration_secs: 0,
    system__time_utc: new Date(call.dialedAt ?? call.acceptedAt).toISOString(),
  };
}

/** Variables `secret__…` are never filled in (gaps A.4). */
export function promptOf(call: Call): string {
  return fillIn(configOf(call).agent?.prompt?.prompt ?? '', () =>
    Object.fromEntries(Object.entries(variablesOf(call)).filter(([name]) => !name.startsWith('secret__'))),
  );
}

export function renderOpeningLine(call: Call): string {
  return fillIn(openingTemplate(call), () => variablesOf(call));
}

function openingTemplate({ agent, override }: Call): string {
  return override?.agent?.first_message ?? agent?.config.agent?.first_message ?? 'Hello.';
}

/** Names without a value in the opening line and the prompt. */
export function missingVariables(call: Call): string[] {
  const texts = `${openingTemplate(call)} ${configOf(call).agent?.prompt?.prompt ?? ''}`;
  const values = variablesOf(call);
  const names = [...texts.matchAll(placeholder)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !Object.hasOwn(values, name));
}
