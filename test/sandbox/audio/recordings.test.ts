import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

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

async function finishedRecord(sandbox: TestSandbox, number: string): Promise<Json> {
  await sandbox.batch([number]);
  sandbox.clock.advance(hour);
  const id = sandbox.calls().at(-1)?.conversationId;
  return (await sandbox.get(`${list}/${id}`)).body;
}

test('a recording has the agent on the left, the callee on the right, each when they spoke', async () => {
  const sandbox = await startTestSandbox();
  const record = await finishedRecord(sandbox, '+12125550100');
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

test('the same seed and talk give the same bytes, whatever the order of calls and readers', async () => {
  const recordings = await Promise.all(
    [false, true].map(async (reversed) => {
      const sandbox = await startTestSandbox({
        outcomeMix: { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 },
      });
      const numbers = plainNumbers(3);
      for (const number of reversed ? numbers.toReversed() : numbers) await sandbox.batch([number]);
      sandbox.clock.advance(hour);
      const calls = sandbox.calls().toSorted((left, right) => left.to.localeCompare(right.to));
      return Promise.all(calls.map(async ({ conversationId }) => download(`${sandbox.url}${list}/${conversationId}/audio`, key)));
    }),
  );
  const [first, second] = recordings;
  for (const [index, { status, bytes }] of (first ?? []).entries()) {
    expect(status).toBe(200);
    expect(bytes.equals(second?.[index]?.bytes ?? Buffer.alloc(0))).toBe(true);
  }
  expect(first?.[0]?.bytes.equals(first[1]?.bytes ?? Buffer.alloc(0))).toBe(false);
});

test('an answering machine leaves a recording too; whoever did not answer leaves none', async () => {
  const sandbox = await startTestSandbox();
  const voicemail = await finishedRecord(sandbox, '+12125550103');
  expect((await download(voicemail.audio)).status).toBe(200);
  for (const ending of ['0101', '0102', '0104', '0114']) {
    const record = await finishedRecord(sandbox, `+1212555${ending}`);
    expect([record.audio, record.has_audio]).toEqual([null, false]);
    const refused = await sandbox.get(`${list}/${record.conversation_id}/audio`);
    expect([refused.status, refused.body.detail.code]).toEqual([404, 'recording_not_found']);
  }
});

test('a recording is there once the call is over, not before', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.batch(['+12125550100']);
  const id = sandbox.calls()[0]?.conversationId;
  sandbox.clock.advance(13_000);
  const during = (await sandbox.get(`${list}/${id}`)).body;
  expect([during.status, during.audio]).toEqual(['in-progress', null]);
  expect((await sandbox.get(`${list}/${id}/audio`)).status).toBe(404);
  while (sandbox.calls()[0]?.endedAt === null) sandbox.clock.advance(1_000);
  const after = (await sandbox.get(`${list}/${id}`)).body;
  expect(after.status).toBe('processing');
  expect((await download(after.audio)).status).toBe(200);
});

test('the number ending 0115 has the address at once and the recording two minutes later', async () => {
  const sandbox = await startTestSandbox({
    outcomeMix: { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 },
  });
  await sandbox.batch(['+12125550115']);
  while (sandbox.calls()[0]?.endedAt === null) sandbox.clock.advance(1_000);
  const path = `${list}/${sandbox.calls()[0]?.conversationId}`;
  const { audio } = (await sandbox.get(path)).body;
  expect((await download(audio)).status).toBe(404);
  sandbox.clock.advance(118_000);
  expect((await download(audio)).status).toBe(404);
  sandbox.clock.advance(2_000);
  expect((await download(audio)).status).toBe(200);
});

test('an address opens without a key until it expires, for its own conversation alone', async () => {
  const sandbox = await startTestSandbox();
  const record = await finishedRecord(sandbox, '+12125550100');
  const other = await finishedRecord(sandbox, '+13125550100');
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
  const renewed = (await sandbox.get(`${list}/${record.conversation_id}`)).body.audio;
  expect((await download(renewed)).status).toBe(200);
  expect(JSON.stringify(sandbox.journal())).not.toContain(address.searchParams.get('signature'));
});

test('a record read twice within the hour names the same address', async () => {
  const sandbox = await startTestSandbox();
  const record = await finishedRecord(sandbox, '+12125550100');
  sandbox.clock.advance(60_000);
  expect((await sandbox.get(`${list}/${record.conversation_id}`)).body).toEqual(record);
});

test('the spec dialect names the address as well, and nothing about it beyond that', async () => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const record = await finishedRecord(sandbox, '+12125550100');
  expect(record).not.toHaveProperty('has_audio');
  expect((await download(record.audio)).status).toBe(200);
});

test('parts of a recording can be fetched, and what is known need not be', async () => {
  const sandbox = await startTestSandbox();
  const { audio } = await finishedRecord(sandbox, '+12125550100');
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

test('a deleted conversation has no recording any more, also for whoever still has the address', async () => {
  const sandbox = await startTestSandbox();
  const record = await finishedRecord(sandbox, '+12125550100');
  expect((await download(record.audio)).status).toBe(200);
  await sandbox.request('DELETE', `${list}/${record.conversation_id}`);
  expect((await download(record.audio)).status).toBe(404);
  expect((await sandbox.get(`${list}/${record.conversation_id}/audio`)).status).toBe(404);
  expect((await sandbox.get(`${list}/conv_none/audio`)).status).toBe(404);
});
