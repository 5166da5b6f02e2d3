import { rateOf, type AudioFormat } from '../schemas/agent-schemas.ts';
import type { Scheduler } from '../core/clock/scheduler.ts';
import { ClientMistake } from './client-messages.ts';
import type { Outbox } from './outbox.ts';
import { Timer } from './timer.ts';

/** Placeholder transcript: the sandbox does not understand speech. */
const unintelligible = '…';
const frameMs = 20;
/** Frame RMS from which it counts as voice: about -36 dB of full scale. */
const voiceLevel = 500;
const framesToBegin = 3;

interface UserAudioParts {
  scheduler: Scheduler;
  outbox: Outbox;
  format: AudioFormat;
  endOfSpeechMs: number;
  nextEventId: () => number;
  began: (at: number) => void;
  ended: (text: string, from: number, until: number) => void;
}

/** Detects speech by loudness only, counting samples: the same sound gives the same result at any speed. */
export class UserAudio {
  readonly #parts: UserAudioParts;
  readonly #nothingMore: Timer;
  readonly #frameSamples: number;
  readonly #framesToEnd: number;
  /** Of the incomplete frame. */
  #energy = 0;
  #samples = 0;
  /** Number of last frames that were alike. */
  #alike = 0;
  #wasVoice = false;
  #speaking = false;
  #beganAt = 0;

  constructor(parts: UserAudioParts) {
    this.#parts = parts;
    this.#nothingMore = new Timer(parts.scheduler);
    this.#frameSamples = Math.round((rateOf(parts.format) * frameMs) / 1000);
    this.#framesToEnd = Math.max(1, Math.ceil(parts.endOfSpeechMs / frameMs));
  }

  get speaking(): boolean {
    return this.#speaking;
  }

  /** Throws `ClientMistake`. */
  hear(base64: string, now: number): void {
    const { outbox, format, endOfSpeechMs } = this.#parts;
    let [frames, voiced] = [0, 0];
    for (const sample of readAudioChunk(base64, format)) {
      this.#energy += sample * sample;
      this.#samples += 1;
      if (this.#samples < this.#frameSamples) continue;
      const isVoice = Math.sqrt(this.#energy / this.#samples) >= voiceLevel;
      [this.#energy, this.#samples] = [0, 0];
      frames += 1;
      voiced += Number(isVoice);
      this.#takeFrame(isVoice, now);
    }
    outbox.send('vad_score', { vad_score: frames === 0 ? 0 : voiced / frames });
    // A client that sends nothing while muted has finished too.
    if (this.#speaking) this.#nothingMore.set(now + 2 * endOfSpeechMs, (at) => this.#end(at));
    else this.#nothingMore.clear();
  }

  stop(): void {
    this.#nothingMore.clear();
  }

  #takeFrame(isVoice: boolean, now: number): void {
    this.#alike = isVoice === this.#wasVoice ? this.#alike + 1 : 1;
    this.#wasVoice = isVoice;
    if (this.#speaking && !isVoice && this.#alike >= this.#framesToEnd) this.#end(now);
    else if (!this.#speaking && isVoice && this.#alike >= framesToBegin) {
      this.#speaking = true;
      this.#beganAt = now;
      this.#parts.began(now);
    }
  }

  #end(at: number): void {
    const { outbox, nextEventId, ended } = this.#parts;
    [this.#speaking, this.#alike, this.#energy, this.#samples] = [false, 0, 0, 0];
    outbox.send('user_transcript', { user_transcript: unintelligible, event_id: nextEventId() });
    ended(unintelligible, this.#beganAt, at);
  }
}

/** Decodes a chunk. Throws `ClientMistake` for a partial sample. */
function readAudioChunk(base64: string, format: AudioFormat): Int16Array {
  const bytes = Buffer.from(base64, 'base64');
  if (format === 'ulaw_8000') return Int16Array.from(bytes, decodeMuLaw);
  if (bytes.length % 2 !== 0)
    throw new ClientMistake('invalid_message', `user_audio_chunk has ${bytes.length} bytes; a sample of ${format} has 2.`);
  return Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2));
}

/** G.711. */
function decodeMuLaw(byte: number): number {
  const inverted = ~byte & 0xff;
  const magnitude = (((inverted & 0x0f) << 3) + 0x84) << ((inverted & 0x70) >> 4);
  return inverted & 0x80 ? 0x84 - magnitude : magnitude - 0x84;
}
