import { speakingMs } from '../core/conversation/pace.ts';
import type { Sound } from '../core/audio-format.ts';
import { voiceNamed, type VoiceId } from './voices.ts';

const loudness = 6_000;
const fadeMs = 8;

/** Stands for speech: as long as saying the text takes, one tone per word, around the pitch of the voice. */
export function soundTones(text: string, voice: VoiceId, rate: number): Sound {
  const samples = new Int16Array(Math.round((speakingMs(text) / 1000) * rate));
  const words = text.split(/\s+/).filter((word) => word !== '');
  const characters = words.reduce((sum, word) => sum + word.length + 1, 0);
  const fade = Math.max(1, Math.round((fadeMs / 1000) * rate));
  let from = 0;
  let passed = 0;
  for (const word of words) {
    passed += word.length + 1;
    const until = Math.round((passed / characters) * samples.length);
    // The pause before the next word is a fifth of the word's room.
    const sounding = Math.round((until - from) * 0.8);
    const hertz = voiceNamed(voice).toneHz * 2 ** (semitones(word) / 12);
    for (let index = 0; index < sounding; index += 1) {
      const envelope = Math.min(1, index / fade, (sounding - index) / fade);
      samples[from + index] = Math.round(loudness * envelope * Math.sin((2 * Math.PI * hertz * index) / rate));
    }
    from = until;
  }
  return { samples, rate };
}

/** Up to a fifth up, by the word's letters. */
function semitones(word: string): number {
  let sum = 0;
  for (const letter of word) sum += letter.codePointAt(0) ?? 0;
  return sum % 8;
}
