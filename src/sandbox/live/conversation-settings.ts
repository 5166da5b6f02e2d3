import { audioFormats, type AudioFormat } from '../core/audio-format.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';

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
