import { rateOf, type AudioFormat } from '../schemas/agent-schemas.ts';

const frameMs = 20;
/** Root mean square of a frame from which on it counts as voice: about -36 dB of full scale. */
const voiceLevel = 500;
const framesToBegin = 3;

export interface Heard {
  /** The share of this sound that is voice, from 0 to 1. */
  score: number;
  changes: ('began' | 'ended')[];
}

/**
 * Hears that somebody speaks, and when they have finished, by loudness alone. What is said is not understood. Counts samples, not
 * time, so that the same sound is heard the same however fast it comes.
 */
export class VoiceActivity {
  readonly #frameSamples: number;
  readonly #framesToEnd: number;
  #rest: number[] = [];
  #voiced = 0;
  #silent = 0;
  #speaking = false;

  constructor(format: AudioFormat, endOfSpeechMs: number) {
    this.#frameSamples = Math.round((rateOf(format) * frameMs) / 1000);
    this.#framesToEnd = Math.max(1, Math.ceil(endOfSpeechMs / frameMs));
  }

  get speaking(): boolean {
    return this.#speaking;
  }

  hear(samples: Int16Array): Heard {
    const changes: Heard['changes'] = [];
    let frames = 0;
    let voiced = 0;
    let sum = 0;
    let count = this.#rest.length;
    for (const sample of this.#rest) sum += sample * sample;
    let from = 0;
    for (const [index, sample] of samples.entries()) {
      sum += sample * sample;
      count += 1;
      if (count < this.#frameSamples) continue;
      const isVoice = Math.sqrt(sum / count) >= voiceLevel;
      const change = this.#takeFrame(isVoice);
      if (change !== null) changes.push(change);
      frames += 1;
      if (isVoice) voiced += 1;
      [sum, count, from] = [0, 0, index + 1];
      this.#rest = [];
    }
    this.#rest.push(...samples.subarray(from));
    return { score: frames === 0 ? 0 : voiced / frames, changes };
  }

  /** Nothing more came: whoever spoke has finished. True if somebody did. */
  stop(): boolean {
    const spoke = this.#speaking;
    [this.#speaking, this.#voiced, this.#silent, this.#rest] = [false, 0, 0, []];
    return spoke;
  }

  #takeFrame(isVoice: boolean): 'began' | 'ended' | null {
    this.#voiced = isVoice ? this.#voiced + 1 : 0;
    this.#silent = isVoice ? 0 : this.#silent + 1;
    if (!this.#speaking && this.#voiced >= framesToBegin) {
      this.#speaking = true;
      return 'began';
    }
    if (this.#speaking && this.#silent >= this.#framesToEnd) {
      this.#speaking = false;
      return 'ended';
    }
    return null;
  }
}
