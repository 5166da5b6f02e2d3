import { Random } from '../core/random.ts';

/** A speaker of the synthesiser, and how it is bent to sound like another person. */
interface Voice {
  /** Two voices of one speaker are never put in one conversation. */
  speaker: 'slt' | 'rms' | 'awb' | 'kal16';
  /** Factor on the length of every sound; chosen so that all voices take about 65 ms a character. */
  stretch: number;
  /** Factor on the pitch. */
  pitch: number;
  /** Of the tone that stands for the voice where nothing can speak, hertz. */
  toneHz: number;
}

const voices = {
  slt: { speaker: 'slt', stretch: 1, pitch: 1, toneHz: 220 },
  slt_low: { speaker: 'slt', stretch: 1.05, pitch: 0.85, toneHz: 196 },
  rms: { speaker: 'rms', stretch: 0.87, pitch: 1, toneHz: 110 },
  rms_high: { speaker: 'rms', stretch: 0.85, pitch: 1.2, toneHz: 131 },
  awb: { speaker: 'awb', stretch: 1, pitch: 1, toneHz: 147 },
  awb_high: { speaker: 'awb', stretch: 0.97, pitch: 1.2, toneHz: 165 },
  kal: { speaker: 'kal16', stretch: 1.05, pitch: 1, toneHz: 98 },
} as const satisfies Record<string, Voice>;

export type VoiceId = keyof typeof voices;

const voiceIds = Object.keys(voices) as [VoiceId, ...VoiceId[]];

export function voiceNamed(id: VoiceId): Voice {
  return voices[id];
}

/** The voice that stands for an agent's `tts.voice_id`: always the same one. */
export function agentVoice(ttsVoiceId: string): VoiceId {
  return new Random('voice of an agent', ttsVoiceId).pick(voiceIds);
}

/** The voice of whoever is behind a number: always the same for that number and agent, and never the agent's own speaker. */
export function calleeVoice(number: string, agent: VoiceId): VoiceId {
  const others = voiceIds.filter((id) => voices[id].speaker !== voices[agent].speaker);
  return new Random('voice behind a number', number).pick(others as [VoiceId, ...VoiceId[]]);
}
