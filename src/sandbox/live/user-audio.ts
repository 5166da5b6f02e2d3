import type { AudioFormat } from '../schemas/agent-schemas.ts';
import type { Scheduler } from '../core/clock/scheduler.ts';
import { ClientMistake } from './client-messages.ts';
import type { Outbox } from './outbox.ts';
import { Timer } from './timer.ts';
import { VoiceActivity } from './voice-activity.ts';

/** Stands for words that were heard: the sandbox does not understand speech. */
const unintelligible = '…';

interface UserAudioParts {
  scheduler: Scheduler;
  outbox: Outbox;
  format: AudioFormat;
  endOfSpeechMs: number;
  nextEventId: () => number;
  began: (at: number) => void;
  ended: (text: string, from: number, until: number) => void;
}

/** The client's side of a conversation where it is spoken. */
export class UserAudio {
  readonly #parts: UserAudioParts;
  readonly #activity: VoiceActivity;
  readonly #nothingMore: Timer;
  #beganAt = 0;

  constructor(parts: UserAudioParts) {
    this.#parts = parts;
    this.#activity = new VoiceActivity(parts.format, parts.endOfSpeechMs);
    this.#nothingMore = new Timer(parts.scheduler);
  }

  get speaking(): boolean {
    return this.#activity.speaking;
  }

  /** Throws `ClientMistake`. */
  hear(base64: string, now: number): void {
    const { outbox, format, endOfSpeechMs, began } = this.#parts;
    const { score, changes } = this.#activity.hear(readAudioChunk(base64, format));
    outbox.send('vad_score', { vad_score: score });
    for (const change of changes) {
      if (change === 'ended') this.#end(now);
      else {
        this.#beganAt = now;
        began(now);
      }
    }
    // A client that sends nothing while it is muted has finished too.
    if (this.#activity.speaking)
      this.#nothingMore.set(now + 2 * endOfSpeechMs, (at) => {
        if (this.#activity.stop()) this.#end(at);
      });
    else this.#nothingMore.clear();
  }

  stop(): void {
    this.#nothingMore.clear();
  }

  #end(at: number): void {
    const { outbox, nextEventId, ended } = this.#parts;
    outbox.send('user_transcript', { user_transcript: unintelligible, event_id: nextEventId() });
    ended(unintelligible, this.#beganAt, at);
  }
}

/** Turns a chunk as it travels into samples. Throws `ClientMistake` when it is no whole number of samples. */
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
