import { rateOf, type AudioFormat } from '../schemas/agent-schemas.ts';
import { speakingMs } from '../core/state/talk.ts';
import { Random } from '../core/random.ts';

const loudness = 6_000;
const fadeMs = 8;
const semitones = [0, 1, 2, 3, 4, 5, 6] as const;

/** Hertz for an agent's `tts.voice_id`: stable, and above every recipient's pitch. */
export function agentPitch(voiceId: string): number {
  return 220 * 2 ** (new Random('voice of an agent', voiceId).pick(semitones) / 12);
}

export function recipientPitch(number: string): number {
  return 110 * 2 ** (new Random('voice behind a number', number).pick(semitones) / 12);
}

/** Faded in and out, so that it does not click; `length` in samples. */
export interface Tone {
  hertz: number;
  length: number;
  /** Samples per second. */
  rate: number;
}

export function sampleOf({ hertz, length, rate }: Tone, index: number): number {
  const fade = (fadeMs / 1000) * rate;
  const gain = Math.min(1, index / fade, (length - index) / fade);
  return Math.round(loudness * gain * Math.sin((2 * Math.PI * hertz * index) / rate));
}

export function sound(text: string, hertz: number, format: AudioFormat): Buffer {
  const rate = rateOf(format);
  const tone = { hertz, rate, length: Math.round((speakingMs(text) / 1000) * rate) };
  const samples = Int16Array.from({ length: tone.length }, (_, index) => sampleOf(tone, index));
  // Node platforms are little-endian, as PCM is.
  return format === 'ulaw_8000' ? encodeMuLaw(samples) : Buffer.from(samples.buffer);
}

const bias = 0x84;
const loudest = 32_635;

/** G.711 µ-law, one byte per sample. */
export function encodeMuLaw(samples: Int16Array): Buffer {
  return Buffer.from(Uint8Array.from(samples, encodeSample));
}

function encodeSample(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(loudest, Math.abs(sample)) + bias;
  const exponent = 31 - Math.clz32(magnitude) - 7;
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}
