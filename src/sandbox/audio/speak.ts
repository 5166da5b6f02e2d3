import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises';
import { rateOf, type AudioFormat, type Sound } from '../core/audio-format.ts';
import { ByteCache } from './byte-cache.ts';
import { loadFlite, type Synthesiser } from './flite.ts';
import { speakablePhrases } from './phrases.ts';
import { resample } from './resample.ts';
import { soundTones } from './tones.ts';
import type { VoiceId } from './voices.ts';

/** The rate of the voices themselves, and of everything before it is turned into a format. */
export const speechRate = 16_000;

/** What was said is kept up to this size: agents say the same sentences to everybody. */
const sentenceCacheBytes = 16 * 1024 * 1024;

export interface Speech {
  /** The same text and voice give the same bytes. Gives way to other work between phrases. */
  say(text: string, voice: VoiceId, format: AudioFormat): Promise<Buffer>;
  /** The same as samples at `speechRate`. */
  pronounce(text: string, voice: VoiceId): Promise<Int16Array>;
  /** Whether there are voices; tones otherwise. */
  hasVoices(): Promise<boolean>;
}

/** With `speech: false`, or where the optional synthesiser is not installed, words are tones of the length of speech. */
export function createSpeech({ speech }: { speech: boolean }): Speech {
  const spoken = new ByteCache<Int16Array>(sentenceCacheBytes, (samples) => samples.byteLength);
  let loading: Promise<Synthesiser | null> | undefined;
  const synthesiser = (): Promise<Synthesiser | null> => (loading ??= speech ? loadFlite() : Promise.resolve(null));

  const pronounce = async (text: string, voice: VoiceId): Promise<Int16Array> => {
    const key = `${voice}\n${text}`;
    const known = spoken.get(key);
    if (known !== undefined) return known;
    const samples = await speakOrSound(text, voice, await synthesiser());
    spoken.set(key, samples);
    return samples;
  };

  return {
    pronounce,
    hasVoices: async () => (await synthesiser()) !== null,
    say: async (text, voice, format) => encode({ samples: await pronounce(text, voice), rate: speechRate }, format),
  };
}

async function speakOrSound(text: string, voice: VoiceId, synthesise: Synthesiser | null): Promise<Int16Array> {
  const phrases = synthesise === null ? [] : speakablePhrases(text);
  const parts: Int16Array[] = [];
  for (const phrase of phrases) {
    const sound = synthesise?.(phrase, voice) ?? soundTones(phrase, voice, speechRate);
    parts.push(resample(sound, speechRate));
    await nextTurnOfTheLoop();
  }
  return parts.length === 0 ? soundTones(text, voice, speechRate).samples : join(parts);
}

function join(parts: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function encode(sound: Sound, format: AudioFormat): Buffer {
  const samples = resample(sound, rateOf(format));
  return format === 'ulaw_8000' ? encodeMuLaw(samples) : littleEndian(samples);
}

/** All platforms on which Node runs are little-endian. */
function littleEndian({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const bias = 0x84;
const loudest = 32_635;

/** G.711 µ-law, one byte per sample. */
export function encodeMuLaw(samples: Int16Array): Buffer {
  const encoded = Buffer.alloc(samples.length);
  for (let index = 0; index < samples.length; index += 1) encoded[index] = encodeSample(samples[index] ?? 0);
  return encoded;
}

function encodeSample(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(loudest, Math.abs(sample)) + bias;
  const exponent = 31 - Math.clz32(magnitude) - 7;
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}
