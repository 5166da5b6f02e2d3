import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Recording } from '../../../src/sandbox/audio/recording.ts';
import { agentPitch, calleePitch, encodeMuLaw, sound } from '../../../src/sandbox/audio/tones.ts';
import { audioFormats, rateOf } from '../../../src/sandbox/schemas/agent-schemas.ts';
import type { Turn } from '../../../src/sandbox/core/state/talk.ts';
import { noon, plainNumbers } from '../harness.ts';

const sentence = 'Hello, I am calling about your appointment on Tuesday.';
const [agentHertz, calleeHertz] = [300, 120];

/** How much of one frequency is in a sound, 0 to its amplitude (Goertzel). */
function strengthOf(hertz: number, samples: readonly number[], rate: number): number {
  let cosine = 0;
  let sine = 0;
  for (const [index, sample] of samples.entries()) {
    cosine += sample * Math.cos((2 * Math.PI * hertz * index) / rate);
    sine += sample * Math.sin((2 * Math.PI * hertz * index) / rate);
  }
  return (2 * Math.hypot(cosine, sine)) / samples.length;
}

test('every format has the length of the words and the pitch of the voice at its own rate', () => {
  for (const format of audioFormats) {
    const bytes = sound(sentence, 220, format);
    const width = format === 'ulaw_8000' ? 1 : 2;
    expect(bytes.length / width / rateOf(format)).toBeCloseTo((350 + sentence.length * 65) / 1_000, 3);
    if (width === 1) continue;
    const samples = Array.from({ length: rateOf(format) }, (_, index) => bytes.readInt16LE(index * 2));
    expect(strengthOf(220, samples, rateOf(format))).toBeGreaterThan(5_900);
  }
});

test('any text has a sound', () => {
  for (const text of ['', ' ', '日本語', '😀', 'x'.repeat(500)])
    expect(sound(text, 220, 'pcm_16000').length).toBe((350 + text.length * 65) * 32);
});

test('an agent’s pitch depends on its voice_id alone, and nobody it calls sounds like it', () => {
  const voices = ['voice_calm', 'voice_a', 'voice_b', 'voice_c', ''];
  const agents = voices.map(agentPitch);
  expect(agents).toEqual(voices.map(agentPitch));
  expect(new Set(agents).size).toBeGreaterThan(2);
  const callees = plainNumbers(60).map(calleePitch);
  expect(new Set(callees).size).toBeGreaterThan(2);
  expect(Math.max(...callees)).toBeLessThan(Math.min(...agents) * 0.9);
});

test('µ-law has the code words of the standard', () => {
  expect([...encodeMuLaw(Int16Array.from([0, -1, 32_767, -32_768, 1_000, -1_000]))]).toEqual([0xff, 0x7f, 0x80, 0x00, 0xce, 0x4e]);
});

/** Twenty characters are said in 1,650 ms. */
function turn(speaker: 'agent' | 'user', atMs: number, more: Partial<Turn> = {}): Turn {
  return { speaker, text: 'x'.repeat(20), at: noon + atMs, until: noon + atMs + 1_650, ...more };
}

function record(turns: Turn[], endedMs: number): Recording {
  return new Recording({ turns, answeredAt: noon, endedAt: noon + endedMs, agentHertz, calleeHertz });
}

/** Which of the two tones is heard on a channel in the hundred milliseconds from `ms` on. */
function listen(recording: Recording): (channel: 0 | 1, ms: number) => 'agent' | 'callee' | 'silence' {
  const wav = Buffer.concat([...recording.read()]);
  expect(wav.length).toBe(recording.bytes);
  return (channel, ms) => {
    const samples = Array.from({ length: 1_600 }, (_, index) => wav.readInt16LE(44 + ms * 64 + index * 4 + channel * 2));
    if (samples.every((sample) => sample === 0)) return 'silence';
    const [agent, callee] = [agentHertz, calleeHertz].map((hertz) => strengthOf(hertz, samples, 16_000));
    return (agent ?? 0) > (callee ?? 0) ? 'agent' : 'callee';
  };
}

test('agent and callee have tones of their own, and it is silent between them', () => {
  const heard = listen(record([turn('agent', 0), turn('user', 2_000), turn('agent', 4_000)], 6_000));
  expect([heard(0, 0), heard(0, 1_500), heard(0, 1_700), heard(0, 4_000), heard(0, 5_700)]).toEqual([
    'agent',
    'agent',
    'silence',
    'agent',
    'silence',
  ]);
  expect([heard(1, 1_700), heard(1, 2_000), heard(1, 3_500), heard(1, 3_700)]).toEqual(['silence', 'callee', 'callee', 'silence']);
});

test('an interrupted turn stops where it was cut off, while any other runs on beside the other speaker', () => {
  const cut = { interrupted: true, until: noon + 1_000 } as const;
  const heard = listen(record([turn('agent', 0, cut), turn('user', 1_000), turn('agent', 2_500)], 6_000));
  expect([heard(0, 850), heard(0, 1_001), heard(1, 850), heard(1, 1_500)]).toEqual(['agent', 'silence', 'silence', 'callee']);
  expect([heard(1, 2_540), heard(0, 2_540)]).toEqual(['callee', 'agent']);
});

test('words stop before the same speaker’s next turn and at the end of the call', () => {
  const recording = record([turn('agent', 0), turn('agent', 1_500)], 2_500);
  expect(recording.bytes).toBe(44 + 2_500 * 64);
  const wav = Buffer.concat([...recording.read()]);
  const frame = (index: number): number => Math.abs(wav.readInt16LE(44 + index * 4));
  expect([frame(1_500 * 16), frame(2_500 * 16 - 1)].every((sample) => sample < 100)).toBe(true);
});

test('a recording of hours is kept to twenty minutes, and any end of it is made without the rest', () => {
  const recording = record([turn('agent', 0)], 10 * 3_600_000);
  expect(recording.bytes).toBe(44 + 20 * 60_000 * 64);
  expect(Buffer.concat([...recording.read(recording.bytes - 10)])).toEqual(Buffer.alloc(10));
});

test('every part has the bytes that it has in the whole', () => {
  const recording = record([turn('agent', 200), turn('user', 2_000)], 4_000);
  const whole = Buffer.concat([...recording.read()]);
  const at = fc.integer({ min: 0, max: recording.bytes - 1 });
  fc.assert(
    fc.property(at, at, (one, other) => {
      const [first, last] = [Math.min(one, other), Math.max(one, other)];
      expect(Buffer.concat([...recording.read(first, last)]).equals(whole.subarray(first, last + 1))).toBe(true);
    }),
    { seed: 3, numRuns: 60 },
  );
});

test('what is heard tells one recording from another', () => {
  const tags = [
    record([turn('agent', 0)], 2_000),
    record([turn('agent', 0)], 2_001),
    record([turn('agent', 1)], 2_000),
    record([turn('user', 0)], 2_000),
  ].map(({ etag }) => etag);
  expect(new Set(tags).size).toBe(tags.length);
  expect(record([turn('agent', 0)], 2_000).etag).toBe(tags[0]);
});
