import { type ConversationConfig, audioFormats, type AudioFormat } from '../../schemas/agent-schemas.ts';
import { mergeDeep } from '../json.ts';
import type { Call } from '../state/call.ts';
import { languageOfTag, type Language } from '../world/person.ts';

export function configOf({ agent, override }: Call): ConversationConfig {
  const config = agent?.config ?? {};
  return override === undefined ? config : mergeDeep(config, override);
}

interface InnerSettings {
  agent?: {
    language?: string | null;
    /** Upstream's place for the defaults of variables: `dynamic_variable_placeholders` in here. */
    dynamic_variables?: Record<string, unknown> | null;
  } | null;
  turn?: Record<string, unknown> | null;
  conversation?: Record<string, unknown> | null;
}

/** The same settings, seen with the fields that the contract does not name. */
export function innerSettings(config: ConversationConfig | undefined): InnerSettings {
  return (config ?? {}) as InnerSettings;
}

/** Languages that nobody here speaks are taken for English. */
export function languageOfAgent(config: ConversationConfig): Language {
  return languageOfTag(innerSettings(config).agent?.language ?? undefined) ?? 'en';
}

const defaultMaxSeconds = 600;
const defaultTurnTimeoutSeconds = 7;

/** After how long the agent ends a call (gaps A.4: `conversation.max_duration_seconds`), milliseconds. */
export function maxDurationMs(config: ConversationConfig): number {
  return positive(innerSettings(config).conversation?.['max_duration_seconds'], defaultMaxSeconds) * 1_000;
}

/** How long the agent waits for a word before it asks again, each time (gaps A.4: `turn.turn_timeout`), milliseconds. */
export function turnTimeoutMs(config: ConversationConfig): number {
  return positive(innerSettings(config).turn?.['turn_timeout'], defaultTurnTimeoutSeconds) * 1_000;
}

/** Silence after which the agent ends the call (gaps A.4: `turn.silence_end_call_timeout`), milliseconds; null for never. */
export function silenceLimitMs(config: ConversationConfig): number | null {
  const seconds = innerSettings(config).turn?.['silence_end_call_timeout'];
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : null;
}

function positive(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : otherwise;
}

const usual: AudioFormat = 'pcm_16000';

/** What the agent's audio is sent in: `tts.agent_output_audio_format`. */
export function outputFormat({ tts }: ConversationConfig): AudioFormat {
  return formatNamed((tts as Record<string, unknown> | undefined)?.['agent_output_audio_format']);
}

/** What the client's audio is taken for: `asr.user_input_audio_format`. */
export function inputFormat({ asr }: ConversationConfig): AudioFormat {
  return formatNamed(asr?.['user_input_audio_format']);
}

function formatNamed(name: unknown): AudioFormat {
  return audioFormats.find((format) => format === name) ?? usual;
}
