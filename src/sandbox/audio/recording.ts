import { createHash } from 'node:crypto';
import { speakingMs, type Turn } from '../core/state/talk.ts';
import { sampleOf, type Tone } from './tones.ts';

const rate = 16_000;
const headerBytes = 44;
/** Two 16-bit samples: left and right. */
const frameBytes = 4;
/** Recordings are cut at twenty minutes (77 MB). */
const longestMs = 20 * 60_000;
const framesAtOnce = 16_000;
/** Increment whenever the rendering changes: the ETag depends on it. */
const recipe = 2;

/** Input of a recording. Times: epoch ms of service time. */
export interface RecordedTalk {
  turns: readonly Turn[];
  answeredAt: number;
  endedAt: number;
  agentHertz: number;
  calleeHertz: number;
}

interface Sound {
  channel: 0 | 1;
  start: number;
  tone: Tone;
}

/**
 * A WAV file (16-bit PCM, 16 kHz), agent left, other party right; each turn is a tone. Long turns may overlap the other speaker but not the
 * same one; interrupted turns end at the cut. Deterministic; any byte range renders alone.
 */
export class Recording {
  readonly bytes: number;
  /** Quoted, ready for the header. */
  readonly etag: string;
  readonly #sounds: readonly Sound[];

  constructor(talk: RecordedTalk) {
    const frames = toFrames(Math.max(0, Math.min(longestMs, talk.endedAt - talk.answeredAt)));
    this.bytes = headerBytes + frames * frameBytes;
    this.#sounds = soundsOf(talk, frames);
    const source = JSON.stringify([recipe, frames, this.#sounds]);
    this.etag = `"${createHash('sha256').update(source).digest('hex').slice(0, 32)}"`;
  }

  *read(first = 0, last = this.bytes - 1): Generator<Buffer> {
    if (first < headerBytes) yield header(this.bytes - headerBytes).subarray(first, last + 1);
    const end = Math.ceil((last + 1 - headerBytes) / frameBytes);
    let frame = Math.floor(Math.max(0, first - headerBytes) / frameBytes);
    for (; frame < end; frame += framesAtOnce) {
      const at = headerBytes + frame * frameBytes;
      const piece = this.#render(frame, Math.min(end, frame + framesAtOnce));
      yield piece.subarray(Math.max(0, first - at), last + 1 - at);
    }
  }

  #render(from: number, until: number): Buffer {
    const samples = new Int16Array((until - from) * 2);
    for (const { channel, start, tone } of this.#sounds) {
      const end = Math.min(until, start + tone.length);
      for (let frame = Math.max(from, start); frame < end; frame += 1)
        samples[(frame - from) * 2 + channel] = sampleOf(tone, frame - start);
    }
    // Node platforms are little-endian, as WAV samples are.
    return Buffer.from(samples.buffer);
  }
}

function soundsOf({ turns, answeredAt, agentHertz, calleeHertz }: RecordedTalk, frames: number): Sound[] {
  return turns.flatMap((turn, index): Sound[] => {
    const { speaker, text, at, until, interrupted } = turn;
    const next = turns.slice(index + 1).find((later) => later.speaker === speaker)?.at ?? Infinity;
    const stopsAt = Math.min(next, interrupted === true ? until : at + speakingMs(text));
    const start = toFrames(at - answeredAt);
    const length = Math.min(frames, toFrames(stopsAt - answeredAt)) - start;
    if (length <= 0) return [];
    const [channel, hertz] = speaker === 'agent' ? ([0, agentHertz] as const) : ([1, calleeHertz] as const);
    return [{ channel, start, tone: { hertz, length, rate } }];
  });
}

function toFrames(ms: number): number {
  return Math.round((ms * rate) / 1000);
}

function header(dataBytes: number): Buffer {
  const head = Buffer.alloc(headerBytes);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(headerBytes - 8 + dataBytes, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * frameBytes, 28);
  head.writeUInt16LE(frameBytes, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(dataBytes, 40);
  return head;
}
