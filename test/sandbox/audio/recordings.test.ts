import * as fc from 'fast-check';
import { fetch } from 'undici';
import { expect } from 'vitest';
import { noon, plainNumbers, startTestSandbox, test } from '../harness.ts';
import { Recording } from '../../../src/sandbox/audio/recording.ts';
import { agentPitch, recipientPitch, encodeMuLaw, sound } from '../../../src/sandbox/audio/tones.ts';
import { audioFormats, rateOf } from '../../../src/sandbox/schemas/agent-schemas.ts';
import type { Turn } from '../../../src/sandbox/core/state/talk.ts';

const hour = 3_600_000;
const list = '/v1/convai/conversations';
const key = { 'x-api-key': 'sk_sandbox_ok' };

interface Wav {
  channels: number;
  rate: number;
  seconds: number;
  /** Loudest sample of a channel between two instants, in seconds. */
  peak(channel: 0 | 1, from: number, until: number): number;
}

function readWav(bytes: Buffer): Wav {
  expect(bytes.toString('latin1', 0, 4) + bytes.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
  expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
  expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
  const channels = bytes.readUInt16LE(22);
  const rate = bytes.readUInt32LE(24);
  expect(bytes.readUInt16LE(34)).toBe(16);
  const frames = (bytes.length - 44) / (2 * channels);
  return {
    channels,
    rate,
    seconds: frames / rate,
    peak: (channel, from, until) => {
      let loudest = 0;
      for (let frame = Math.round(from * rate); frame < Math.min(frames, until * rate); frame += 1)
        loudest = Math.max(loudest, Math.abs(bytes.readInt16LE(44 + (frame * channels + channel) * 2)));
      return loudest;
    },
  };
}

async function download(url: string, headers: Record<string, string> = {}): Promise<{ status: number; bytes: Buffer }> {
  const response = await fetch(url, { headers });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('a recording has the agent on the left, the callee on the right, each when they spoke', async ({ sandbox }) => {
  const record = await sandbox.call('+12125550100');
  expect(record).toMatchObject({ has_audio: true, has_user_audio: true, has_response_audio: true });
  expect(new URL(record.audio).origin).toBe(sandbox.url);
  const { status, bytes } = await download(record.audio);
  expect(status).toBe(200);
  const wav = readWav(bytes);
  expect([wav.channels, wav.rate]).toEqual([2, 16_000]);
  expect(wav.seconds).toBeCloseTo(record.metadata.duration, -0.1);
  const answeredAt = Date.parse(record.metadata.end_time) - wav.seconds * 1000;
  expect(record.transcript.length).toBeGreaterThan(3);
  const loud = 500;
  for (const turn of record.transcript) {
    const at = (Date.parse(turn.timestamp) - answeredAt) / 1000;
    const [own, other] = turn.speaker === 'agent' ? ([0, 1] as const) : ([1, 0] as const);
    expect(wav.peak(own, at, at + 0.5), turn.text).toBeGreaterThan(loud);
    expect(wav.peak(other, at + 0.02, at + 0.3), turn.text).toBeLessThan(loud);
  }
});

test('an answering machine leaves a recording too; whoever did not answer leaves none', async ({ sandbox }) => {
  const voicemail = await sandbox.call('+12125550103');
  expect((await download(voicemail.audio)).status).toBe(200);
  for (const ending of ['0101', '0102', '0104', '0114']) {
    const record = await sandbox.call(`+1212555${ending}`);
    expect([record.audio, record.has_audio]).toEqual([null, false]);
    const refused = await sandbox.get(`${list}/${record.conversation_id}/audio`);
    expect([refused.status, refused.body.detail.code]).toEqual([404, 'recording_not_found']);
  }
});

test('a recording is there once the call is over, not before', async ({ sandbox }) => {
  await sandbox.batch(['+12125550100']);
  const id = sandbox.calls()[0]?.conversationId;
  sandbox.clock.advance(13_000);
  const during = await sandbox.read(`${list}/${id}`);
  expect([during.status, during.audio]).toEqual(['in-progress', null]);
  expect((await sandbox.get(`${list}/${id}/audio`)).status).toBe(404);
  while (sandbox.calls()[0]?.endedAt === null) sandbox.clock.advance(1_000);
  const after = await sandbox.read(`${list}/${id}`);
  expect(after.status).toBe('processing');
  expect((await download(after.audio)).status).toBe(200);
});

test('the number ending 0115 has the address at once and the recording two minutes later', async () => {
  const sandbox = await startTestSandbox({ outcomeMix: { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 } });
  await sandbox.batch(['+12125550115']);
  while (sandbox.calls()[0]?.endedAt === null) sandbox.clock.advance(1_000);
  const path = `${list}/${sandbox.calls()[0]?.conversationId}`;
  const { audio } = await sandbox.read(path);
  expect((await download(audio)).status).toBe(404);
  sandbox.clock.advance(118_000);
  expect((await download(audio)).status).toBe(404);
  sandbox.clock.advance(2_000);
  expect((await download(audio)).status).toBe(200);
});

test('an address opens without a key until it expires, for its own conversation alone', async ({ sandbox }) => {
  const record = await sandbox.call('+12125550100');
  sandbox.clock.advance(60_000);
  // The same within an hour, however often the record is read.
  expect(await sandbox.read(`${list}/${record.conversation_id}`)).toEqual(record);
  const other = await sandbox.call('+13125550100');
  const address = new URL(record.audio);
  expect((await download(address.href)).status).toBe(200);
  const forged = [
    `${list}/${other.conversation_id}/audio${address.search}`,
    address.pathname + address.search.replace(/expires=\d+/, 'expires=9999999999'),
    `${address.pathname}?expires=${address.searchParams.get('expires')}&signature=AAAA`,
  ];
  for (const path of forged) expect((await download(sandbox.url + path)).status).toBe(403);
  expect((await download(sandbox.url + address.pathname)).status).toBe(401);
  expect((await download(sandbox.url + address.pathname, { 'x-api-key': 'sk_wrong' })).status).toBe(401);
  expect((await download(address.href, { 'x-api-key': 'sk_wrong' })).status).toBe(401);
  expect((await sandbox.get(`${address.pathname}?key=x`)).status).toBe(422);

  sandbox.clock.advance(2 * hour);
  expect((await download(address.href)).status).toBe(403);
  expect((await download(address.href, key)).status).toBe(200);
  const renewed = (await sandbox.read(`${list}/${record.conversation_id}`)).audio;
  expect((await download(renewed)).status).toBe(200);
  expect(JSON.stringify(sandbox.journal())).not.toContain(address.searchParams.get('signature'));
});

test('parts of a recording can be fetched, and what is known need not be', async ({ sandbox }) => {
  const { audio } = await sandbox.call('+12125550100');
  const whole = await fetch(audio);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const etag = whole.headers.get('etag') ?? '';
  expect(whole.headers.get('content-length')).toBe(String(bytes.length));
  expect(whole.headers.get('content-type')).toBe('audio/wav');
  expect(whole.headers.get('accept-ranges')).toBe('bytes');
  const { length } = bytes;
  const ranges: [string, number, number, number][] = [
    ['bytes=0-43', 206, 0, 43],
    ['bytes=44-', 206, 44, length - 1],
    ['bytes=-10', 206, length - 10, length - 1],
    [`bytes=5-${length * 2}`, 206, 5, length - 1],
    ['bytes=9-5', 200, 0, length - 1],
    ['bytes=0-1,5-6', 200, 0, length - 1],
    ['pages=1-2', 200, 0, length - 1],
  ];
  for (const [range, status, first, last] of ranges) {
    const part = await fetch(audio, { headers: { range } });
    expect([range, part.status]).toEqual([range, status]);
    if (status === 206) expect(part.headers.get('content-range')).toBe(`bytes ${first}-${last}/${length}`);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(first, last + 1))).toBe(true);
  }
  for (const range of [`bytes=${length}-`, 'bytes=-0']) {
    const beyond = await fetch(audio, { headers: { range } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${length}`]);
  }
  expect((await fetch(audio, { headers: { 'if-none-match': etag } })).status).toBe(304);
  const changed = await fetch(audio, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } });
  expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, length]);
});

test('a deleted conversation has no recording any more, also for whoever still has the address', async ({ sandbox }) => {
  const record = await sandbox.call('+12125550100');
  expect((await download(record.audio)).status).toBe(200);
  await sandbox.delete(`${list}/${record.conversation_id}`);
  expect((await download(record.audio)).status).toBe(404);
  expect((await sandbox.get(`${list}/${record.conversation_id}/audio`)).status).toBe(404);
  expect((await sandbox.get(`${list}/conv_none/audio`)).status).toBe(404);
});

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
  const callees = plainNumbers(60).map(recipientPitch);
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

/** Which tone a channel has in the hundred milliseconds from `ms` on. */
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
