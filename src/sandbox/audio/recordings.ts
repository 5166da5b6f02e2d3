import { createHash } from 'node:crypto';
import { meantIn } from '../core/conversation/cut-turn.ts';
import { talkOf } from '../core/conversation/talk-of.ts';
import type { Call } from '../core/state/call.ts';
import { ByteCache } from './byte-cache.ts';
import { renderRecording, type RecordedTalk } from './recording.ts';
import type { Speech } from './speak.ts';
import { agentVoice, calleeVoice } from './voices.ts';

const cacheBytes = 96 * 1024 * 1024;
/** Grows with every change of how recordings are made. */
const recipe = 1;

export interface Recording {
  wav: Buffer;
  /** Quoted, as a header carries it. */
  etag: string;
}

/** Recordings of finished conversations: made when first asked for, one at a time, and the last ones kept. */
export class Recordings {
  readonly #seed: string;
  readonly #speech: Speech;
  readonly #kept = new ByteCache<Recording>(cacheBytes, ({ wav }) => wav.length);
  readonly #underWay = new Map<string, Promise<Recording>>();
  /** One after the other, so that many readers at once do not need the memory of many recordings. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(seed: string, speech: Speech) {
    this.#seed = seed;
    this.#speech = speech;
  }

  /** The call must have been recorded (`isRecorded`), and be over. */
  async of(call: Call): Promise<Recording> {
    const talk = recordedTalk(this.#seed, call);
    const etag = `"${await this.#fingerprint(talk)}"`;
    const id = call.conversationId;
    const kept = this.#kept.get(id);
    if (kept?.etag === etag) return kept;
    const key = `${id} ${etag}`;
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const rendering = this.#last.then(async () => {
      const recording = {
        wav: await renderRecording(talk, (text, voice) => this.#speech.pronounce(text, voice)),
        etag,
      };
      if (this.#underWay.get(key) === rendering && !call.recordDeleted) this.#kept.set(id, recording);
      return recording;
    });
    this.#last = rendering.catch(() => undefined);
    this.#underWay.set(key, rendering);
    void this.#last.then(() => {
      if (this.#underWay.get(key) === rendering) this.#underWay.delete(key);
    });
    return rendering;
  }

  /** Drops what is kept of a deleted conversation. */
  forget(conversationId: string): void {
    this.#kept.delete(conversationId);
  }

  clear(): void {
    this.#kept.clear();
    this.#underWay.clear();
  }

  async #fingerprint(talk: RecordedTalk): Promise<string> {
    const turns = talk.turns.map((turn) => [
      turn.speaker,
      meantIn(turn),
      turn.at - talk.answeredAt,
      turn.until - talk.answeredAt,
      turn.interrupted === true,
    ]);
    const source = [
      recipe,
      await this.#speech.hasVoices(),
      talk.agentVoice,
      talk.calleeVoice,
      talk.endedAt - talk.answeredAt,
      turns,
    ];
    return createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 32);
  }
}

function recordedTalk(seed: string, call: Call): RecordedTalk {
  const { turns, endedAt } = talkOf(seed, call);
  const voice = agentVoice(voiceIdOf(call));
  return {
    turns,
    answeredAt: call.course?.answeredAt ?? endedAt,
    endedAt: call.course?.endedAt ?? endedAt,
    agentVoice: voice,
    calleeVoice: calleeVoice(call.to, voice),
  };
}

function voiceIdOf({ agent, override }: Call): string {
  return override?.tts?.voice_id ?? agent?.config.tts?.voice_id ?? '';
}
