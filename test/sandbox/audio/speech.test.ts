import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { audioFormats, rateOf } from '../../../src/sandbox/core/audio-format.ts';
import { ByteCache } from '../../../src/sandbox/audio/byte-cache.ts';
import { encodeMuLaw, createSpeech, type Speech } from '../../../src/sandbox/audio/speak.ts';
import { speakablePhrases } from '../../../src/sandbox/audio/phrases.ts';
import { renderRecording } from '../../../src/sandbox/audio/recording.ts';
import { Recordings } from '../../../src/sandbox/audio/recordings.ts';
import { resample } from '../../../src/sandbox/audio/resample.ts';
import { agentVoice, calleeVoice, voiceNamed } from '../../../src/sandbox/audio/voices.ts';
import type { Turn } from '../../../src/sandbox/core/state/talk.ts';
import type { Call } from '../../../src/sandbox/core/state/call.ts';
import { noon } from '../harness.ts';

const sentence = 'Hello, I am calling about your appointment on Tuesday.';

function tone(hertz: number, rate: number, seconds: number): Int16Array {
  return Int16Array.from({ length: rate * seconds }, (_, index) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * hertz * index) / rate)),
  );
}

/** How much of one frequency is in a sound, 0 to its amplitude (Goertzel). */
function strengthOf(hertz: number, samples: Int16Array, rate: number): number {
  let cosine = 0;
  let sine = 0;
  for (const [index, sample] of samples.entries()) {
    cosine += sample * Math.cos((2 * Math.PI * hertz * index) / rate);
    sine += sample * Math.sin((2 * Math.PI * hertz * index) / rate);
  }
  return (2 * Math.hypot(cosine, sine)) / samples.length;
}

test('there are voices where the synthesiser is installed, and tones when they are not wanted', async () => {
  expect(await createSpeech({ speech: true }).hasVoices()).toBe(true);
  expect(await createSpeech({ speech: false }).hasVoices()).toBe(false);
});

test('every format has the length of the speech at its own rate, and the same bytes every time', async () => {
  for (const speech of [true, false]) {
    const speaker = createSpeech({ speech });
    const seconds = (await speaker.say(sentence, 'slt', 'pcm_16000')).length / 32_000;
    expect(seconds).toBeGreaterThan(2);
    for (const format of audioFormats) {
      const bytes = await speaker.say(sentence, 'slt', format);
      const perSecond = rateOf(format) * (format === 'ulaw_8000' ? 1 : 2);
      expect(bytes.length / perSecond).toBeCloseTo(seconds, 2);
      expect(bytes.equals(await createSpeech({ speech }).say(sentence, 'slt', format))).toBe(true);
    }
  }
});

test('voices differ, and take about as long as a turn of a conversation', async () => {
  const speech = createSpeech({ speech: true });
  const said = await Promise.all(
    (['slt', 'slt_low', 'rms', 'rms_high', 'awb', 'awb_high', 'kal'] as const).map((voice) =>
      speech.pronounce(sentence, voice),
    ),
  );
  expect(new Set(said.map((samples) => Buffer.from(samples.buffer).toString('base64'))).size).toBe(said.length);
  for (const samples of said) expect(samples.length / 16 / (sentence.length * 65)).toBeCloseTo(1, 0.5);
});

test('any text is said or sounded, none breaks the synthesiser', async () => {
  const speech = createSpeech({ speech: true });
  const odd = [
    '',
    ' ',
    '--help',
    '-o /tmp/x',
    '<b>hi</b>',
    '{{name}}',
    '%s%n',
    '日本語',
    '😀',
    'a\u0000b',
    'x'.repeat(500),
  ];
  for (const text of odd) expect((await speech.pronounce(text, 'kal')).length, text).toBeGreaterThan(0);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (text) => {
      expect((await speech.pronounce(text, 'kal')).length).toBeGreaterThan(0);
    }),
    { seed: 4, numRuns: 60 },
  );
});

test('phrases keep every word that can be said, and none is long', () => {
  expect(speakablePhrases('Crème brûlée — “yes”. Straße? 日本')).toEqual(['Creme brulee , yes .', 'Strasse?']);
  expect(speakablePhrases('… !')).toEqual([]);
  const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(words, (list) => {
      const phrases = speakablePhrases(list.join(' '));
      expect(phrases.join(' ').split(' ')).toEqual(list);
      for (const phrase of phrases) expect(phrase.length).toBeLessThanOrEqual(120);
    }),
    { seed: 1 },
  );
});

test('an agent’s voice depends on its voice_id alone, and nobody it calls shares its speaker', () => {
  const numbers = Array.from({ length: 60 }, (_, index) => `+121255501${String(index + 30).padStart(2, '0')}`);
  const agents = ['voice_calm', 'voice_a', 'voice_b', 'voice_c', ''].map(agentVoice);
  expect(agents).toEqual(['voice_calm', 'voice_a', 'voice_b', 'voice_c', ''].map(agentVoice));
  for (const agent of agents) {
    const callees = numbers.map((number) => calleeVoice(number, agent));
    expect(new Set(callees).size).toBeGreaterThan(2);
    for (const callee of callees) expect(voiceNamed(callee).speaker).not.toBe(voiceNamed(agent).speaker);
  }
});

test('resampling keeps what is heard and lets nothing fold back', () => {
  for (const rate of [8_000, 22_050, 24_000, 44_100, 48_000]) {
    const heard = resample({ samples: tone(1_000, 16_000, 0.5), rate: 16_000 }, rate);
    expect(heard.length).toBe(rate / 2);
    expect(strengthOf(1_000, heard.subarray(200, -200), rate)).toBeGreaterThan(9_800);
  }
  // 6 kHz cannot be told at 8,000 samples a second; without a filter it would come back as 2 kHz.
  const folded = resample({ samples: tone(6_000, 16_000, 0.5), rate: 16_000 }, 8_000);
  expect(strengthOf(2_000, folded, 8_000)).toBeLessThan(100);
});

test('µ-law has the code words of the standard', () => {
  expect([...encodeMuLaw(Int16Array.from([0, -1, 32_767, -32_768, 1_000, -1_000]))]).toEqual([
    0xff, 0x7f, 0x80, 0x00, 0xce, 0x4e,
  ]);
});

function turn(speaker: 'agent' | 'user', atMs: number, untilMs: number, more: Partial<Turn> = {}): Turn {
  return { speaker, text: speaker, at: noon + atMs, until: noon + untilMs, ...more };
}

/** A voice that says everything in two seconds of one loud sample value. */
const steadyVoice = async (): Promise<Int16Array> => new Int16Array(32_000).fill(1_000);

async function render(turns: Turn[], endedMs: number): Promise<(channel: 0 | 1, ms: number) => number> {
  const wav = await renderRecording(
    { turns, answeredAt: noon, endedAt: noon + endedMs, agentVoice: 'slt', calleeVoice: 'rms' },
    steadyVoice,
  );
  expect(wav.length).toBe(44 + endedMs * 64);
  return (channel, ms) => wav.readInt16LE(44 + ms * 64 + channel * 2);
}

test('an interrupted turn stops where it was cut off, while any other runs on beside the other speaker', async () => {
  const sample = await render(
    [turn('agent', 0, 1_000, { interrupted: true }), turn('user', 1_000, 2_000), turn('agent', 2_500, 3_000)],
    6_000,
  );
  expect([sample(0, 500), sample(0, 1_001), sample(1, 999), sample(1, 1_500)]).toEqual([1_000, 0, 0, 1_000]);
  expect([sample(1, 2_900), sample(0, 2_900)]).toEqual([1_000, 1_000]);
});

test('speech stops before the same speaker’s next turn and at the end of the call', async () => {
  const sample = await render([turn('agent', 0, 900), turn('agent', 1_500, 2_000)], 2_500);
  expect([sample(0, 1_499) < 1_000, sample(0, 1_510), sample(0, 2_400)]).toEqual([true, 1_000, 1_000]);
});

test('a recording of hours is kept to twenty minutes', async () => {
  const wav = await renderRecording(
    { turns: [], answeredAt: noon, endedAt: noon + 10 * 3_600_000, agentVoice: 'slt', calleeVoice: 'rms' },
    steadyVoice,
  );
  expect(wav.length).toBe(44 + 20 * 60_000 * 64);
});

function recordedCall(id: string, seconds: number): Call {
  const live = {
    turns: [turn('agent', 0, 1_000)],
    endedAt: noon + seconds * 1_000,
    terminationReason: '',
    brokeDown: false,
  };
  const course = { answeredAt: noon, endedAt: live.endedAt };
  return {
    conversationId: id,
    to: '+12125550150',
    agent: null,
    override: undefined,
    recordDeleted: false,
    live,
    course,
  } as unknown as Call;
}

function countingSpeech(): Speech & { spoken: number } {
  const speech = {
    spoken: 0,
    hasVoices: async () => false,
    say: async () => Buffer.alloc(0),
    pronounce: async () => {
      speech.spoken += 1;
      return steadyVoice();
    },
  };
  return speech;
}

test('many readers at once have a recording rendered once, later ones get the one that is kept', async () => {
  const speech = countingSpeech();
  const recordings = new Recordings('seed', speech);
  const call = recordedCall('conv_1', 3);
  const all = await Promise.all(Array.from({ length: 20 }, () => recordings.of(call)));
  expect(new Set(all).size).toBe(1);
  expect(await recordings.of(call)).toBe(all[0]);
  expect(speech.spoken).toBe(1);
  recordings.forget('conv_1');
  await recordings.of(call);
  expect(speech.spoken).toBe(2);
});

test('a conversation deleted while it is rendered is not kept', async () => {
  const speech = countingSpeech();
  const recordings = new Recordings('seed', speech);
  const call = recordedCall('conv_1', 3);
  const rendering = recordings.of(call);
  call.recordDeleted = true;
  await rendering;
  await recordings.of(call);
  expect(speech.spoken).toBe(2);
});

test('the cache holds what was used last, within its bound', () => {
  const cache = new ByteCache<Buffer>(100, (buffer) => buffer.length);
  for (const name of ['a', 'b', 'c']) cache.set(name, Buffer.alloc(30));
  cache.get('a');
  cache.set('d', Buffer.alloc(30));
  expect(['a', 'b', 'c', 'd'].filter((name) => cache.get(name) !== undefined)).toEqual(['a', 'c', 'd']);
  cache.set('e', Buffer.alloc(101));
  expect([cache.get('e'), cache.bytes]).toEqual([undefined, 90]);
  cache.set('a', Buffer.alloc(10));
  expect(cache.bytes).toBe(70);
});
