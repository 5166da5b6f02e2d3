import { rateOf, type AudioFormat } from '../schemas/agent-schemas.ts';
import type { Clock } from '../core/clock/clock.ts';
import type { Scheduler } from '../core/clock/scheduler.ts';
import type { Alignment, Outbox } from './outbox.ts';
import { Timer } from './timer.ts';

const pieceMs = 250;

export interface SpokenTurn {
  text: string;
  audio: Buffer;
  format: AudioFormat;
  eventId: number;
  startAt: number;
}

interface StreamParts {
  outbox: Outbox;
  clock: Clock;
  scheduler: Scheduler;
  pacing: 'realtime' | 'fast';
}

function durationMs(audio: Buffer, format: AudioFormat): number {
  return (audio.length / bytesPerSecond(format)) * 1_000;
}

function bytesPerSecond(format: AudioFormat): number {
  return rateOf(format) * (format === 'ulaw_8000' ? 1 : 2);
}

/** Pieces of a quarter second, in real time or as fast as the client takes them. */
export class AudioStream {
  readonly #turn: SpokenTurn;
  readonly #parts: StreamParts;
  readonly #timer: Timer;
  readonly #pieceBytes: number;
  #next = 0;
  #stopped = false;
  #waiting = false;

  constructor(turn: SpokenTurn, parts: StreamParts) {
    this.#turn = turn;
    this.#parts = parts;
    this.#timer = new Timer(parts.scheduler);
    // Rounds to whole 16-bit samples, which only 22.05 kHz needs.
    this.#pieceBytes = Math.floor((bytesPerSecond(turn.format) * pieceMs) / 2_000) * 2;
  }

  start(): void {
    this.#goOn(this.#parts.clock.now());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer.clear();
  }

  #goOn(now: number): void {
    while (!this.#stopped && this.#next * this.#pieceBytes < this.#turn.audio.length) {
      const dueAt = this.#turn.startAt + this.#next * pieceMs;
      if (this.#parts.pacing === 'realtime' && dueAt > now) {
        this.#timer.set(dueAt, (at) => this.#goOn(Math.max(at, this.#parts.clock.now())));
        return;
      }
      if (!this.#sendNext()) return;
    }
  }

  /** False when the client must read first. */
  #sendNext(): boolean {
    const from = this.#next * this.#pieceBytes;
    const piece = this.#turn.audio.subarray(from, from + this.#pieceBytes);
    this.#next += 1;
    const facts = { audio_base_64: piece.toString('base64'), event_id: this.#turn.eventId, alignment: this.#align(from, piece.length) };
    this.#parts.outbox.send('audio', facts, () => {
      if (!this.#waiting || this.#stopped || !this.#parts.outbox.takesMore) return;
      this.#waiting = false;
      this.#goOn(this.#parts.clock.now());
    });
    if (this.#parts.pacing === 'realtime' || this.#parts.outbox.takesMore) return true;
    this.#waiting = true;
    return false;
  }

  /** Every character gets the same time. */
  #align(from: number, length: number): Alignment {
    const { text, audio, format } = this.#turn;
    const chars = Array.from(text);
    const totalMs = durationMs(audio, format);
    const charMs = totalMs / Math.max(1, chars.length);
    const startMs = (from / audio.length) * totalMs;
    const endMs = ((from + length) / audio.length) * totalMs;
    const first = Math.ceil(startMs / charMs - 1e-9);
    const inPiece = chars.slice(first, Math.ceil(endMs / charMs - 1e-9));
    return {
      chars: inPiece,
      char_start_times_ms: inPiece.map((_, index) => Math.round((first + index) * charMs - startMs)),
      char_durations_ms: inPiece.map(() => Math.round(charMs)),
    };
  }
}
