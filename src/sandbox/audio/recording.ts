import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises';
import { meantIn } from '../core/conversation/cut-turn.ts';
import type { Turn } from '../core/state/talk.ts';
import type { VoiceId } from './voices.ts';
import { wavHeader, wavHeaderBytes } from './wav.ts';

/** Samples per second and channel: what the voices are made in. */
export const recordingRate = 16_000;

/** A recording ends after twenty minutes, whatever was said later; at four bytes a sample pair that is 77 MB. */
const longestMs = 20 * 60_000;
const fadeSamples = 160;

/** What a recording is made from. Times are epoch milliseconds of service time. */
export interface RecordedTalk {
  turns: readonly Turn[];
  answeredAt: number;
  endedAt: number;
  agentVoice: VoiceId;
  calleeVoice: VoiceId;
}

type Pronounce = (text: string, voice: VoiceId) => Promise<Int16Array>;

/**
 * A WAV file of 16-bit PCM at 16 kHz, the agent on the left channel, the other party on the right. Every turn begins at its
 * time after pick-up. Speech that takes longer than planned runs on beside the other speaker, but stops before
 * the same speaker's next turn; a turn that was interrupted stops where it was cut off. The same talk gives the same bytes.
 */
export async function renderRecording(talk: RecordedTalk, pronounce: Pronounce): Promise<Buffer> {
  const frames = toFrames(Math.max(0, Math.min(longestMs, talk.endedAt - talk.answeredAt)));
  const file = new ArrayBuffer(wavHeaderBytes + frames * 4);
  const wav = Buffer.from(file);
  wavHeader(2, recordingRate, frames * 4).copy(wav);
  // All platforms on which Node runs are little-endian, as the samples of a WAV file are.
  const samples = new Int16Array(file, wavHeaderBytes);
  for (const [index, turn] of talk.turns.entries()) {
    const start = toFrames(turn.at - talk.answeredAt);
    if (start >= frames) break;
    const voice = turn.speaker === 'agent' ? talk.agentVoice : talk.calleeVoice;
    const limit = Math.min(frames, toFrames(limitOf(turn, talk.turns.slice(index + 1)) - talk.answeredAt));
    place(samples, await pronounce(meantIn(turn), voice), { start, limit, channel: turn.speaker === 'agent' ? 0 : 1 });
    await nextTurnOfTheLoop();
  }
  return wav;
}

function limitOf(turn: Turn, later: readonly Turn[]): number {
  const own = later.find(({ speaker }) => speaker === turn.speaker)?.at ?? Infinity;
  return turn.interrupted === true ? Math.min(turn.until, own) : own;
}

function place(
  frames: Int16Array,
  speech: Int16Array,
  { start, limit, channel }: { start: number; limit: number; channel: 0 | 1 },
): void {
  const length = Math.min(speech.length, limit - start);
  const cut = length < speech.length;
  for (let index = 0; index < length; index += 1) {
    // A cut in the middle of a sound would click.
    const gain = cut ? Math.min(1, (length - index) / fadeSamples) : 1;
    frames[(start + index) * 2 + channel] = Math.round((speech[index] ?? 0) * gain);
  }
}

function toFrames(ms: number): number {
  return Math.round((ms * recordingRate) / 1000);
}
