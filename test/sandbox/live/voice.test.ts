import { expect } from 'vitest';
import { startTestSandbox, testWith, type Json } from '../harness.ts';
import { connect, converse, listening, pass, signedUrl, type SocketClient } from './socket-client.ts';

const quick = { sockets: { pacing: 'fast' } } as const;
const test = testWith(quick);

/** Little-endian 16-bit samples of a tone, or of silence at level 0. */
function tone(ms: number, { level = 8_000, rate = 16_000 } = {}): Buffer {
  const samples = Buffer.alloc(((ms * rate) / 1000) * 2);
  for (let index = 0; index * 2 < samples.length; index += 1)
    samples.writeInt16LE(Math.round(level * Math.sin((2 * Math.PI * 220 * index) / rate)), index * 2);
  return samples;
}

function sendAudio(client: SocketClient, audio: Buffer, pieceBytes = 3_200): void {
  for (let at = 0; at < audio.length; at += pieceBytes)
    client.send({ user_audio_chunk: audio.subarray(at, at + pieceBytes).toString('base64') });
}

test('speech is heard as a turn of its own when it is over, and answered, but not understood', async ({ sandbox }) => {
  const client = await listening(sandbox);
  sendAudio(client, tone(1_000));
  sendAudio(client, tone(600, { level: 0 }));
  await client.settle();
  expect(client.heard('user_transcript')).toEqual([]);
  sendAudio(client, tone(200, { level: 0 }));
  expect((await client.next('user_transcript')).user_transcription_event).toEqual({ user_transcript: '…', event_id: expect.any(Number) });
  await client.next('agent_response');
  await client.next('agent_response');
  expect((await client.record()).transcript.map(({ speaker }: Json) => speaker)).toEqual(['agent', 'user', 'agent']);
});

test.each([37, 320, 640, 16_000])('what is heard does not depend on pieces of %i samples', async (samples) => {
  const sandbox = await startTestSandbox({ ...quick, sockets: { pacing: 'fast', maxMessagesPerSecond: 1_000_000 } });
  const client = await listening(sandbox);
  const sound = Buffer.concat([tone(100), tone(800, { level: 0 }), tone(100), tone(800, { level: 0 })]);
  sendAudio(client, sound, samples * 2);
  await client.next('user_transcript');
  await client.next('user_transcript');
  await client.settle();
  expect(client.heard('user_transcript')).toHaveLength(2);
});

test('a click and a whisper are not speech', async ({ sandbox }) => {
  const client = await listening(sandbox);
  sendAudio(client, Buffer.concat([tone(40), tone(900, { level: 0 }), tone(2_000, { level: 400 }), tone(900, { level: 0 })]));
  await client.settle();
  expect(client.heard('user_transcript')).toEqual([]);
});

test('who mutes the microphone has finished too', async ({ sandbox }) => {
  const client = await listening(sandbox);
  sendAudio(client, tone(500));
  await client.settle();
  await pass(sandbox, 1_399);
  await client.settle();
  expect(client.heard('user_transcript')).toEqual([]);
  await pass(sandbox, 1);
  await client.next('user_transcript');
});

test('who begins to speak while the agent does interrupts it', async () => {
  const sandbox = await startTestSandbox();
  const client = await converse(sandbox, 'agent_reminders');
  await client.next('audio');
  await pass(sandbox, 1_000);
  sendAudio(client, tone(200));
  expect((await client.next('interruption')).interruption_event).toEqual({ event_id: 1 });
  expect((await client.record()).transcript[0]).toMatchObject({ interrupted: true });
});

test.for<[string, Buffer, Buffer]>([
  ['pcm_8000', tone(1_000, { rate: 8_000 }), tone(800, { rate: 8_000, level: 0 })],
  ['pcm_44100', tone(1_000, { rate: 44_100 }), tone(800, { rate: 44_100, level: 0 })],
  // µ-law: 0x00 and 0x80 are the loudest samples, 0xff is silence.
  ['ulaw_8000', Buffer.alloc(8_000, Buffer.from([0x00, 0x80])), Buffer.alloc(6_400, 0xff)],
])('sound comes as %s where the agent says so', async ([format, speech, silence], { sandbox }) => {
  const agentId = await sandbox.createAgent({ agent: { first_message: 'Hello.' }, asr: { user_input_audio_format: format } });
  const client = await connect(await signedUrl(sandbox, agentId));
  client.send({ type: 'user_activity' });
  const { conversation_initiation_metadata_event: metadata } = await client.next('conversation_initiation_metadata');
  expect(metadata.user_input_audio_format).toBe(format);
  await pass(sandbox, 4_000);
  sendAudio(client, speech, 2_000);
  sendAudio(client, silence, 2_000);
  await client.next('user_transcript');
});

test('how much of a piece is speech is told to those who want to know', async ({ sandbox }) => {
  const client = await listening(sandbox, 'agent_reminders', {
    conversation_config_override: { conversation: { client_events: ['vad_score', 'audio'] } },
  });
  const scores = async (audio: Buffer): Promise<number> => {
    sendAudio(client, audio, audio.length);
    return (await client.next('vad_score')).vad_score_event.vad_score;
  };
  expect(await scores(tone(200, { level: 0 }))).toBe(0);
  expect(await scores(tone(200))).toBe(1);
  expect(await scores(Buffer.concat([tone(100), tone(100, { level: 0 })]))).toBe(0.5);
});

test('in a conversation by text sound is not listened to', async ({ sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders', { conversation_config_override: { conversation: { text_only: true } } });
  sendAudio(client, Buffer.concat([tone(1_000), tone(900, { level: 0 })]));
  await client.settle();
  expect((await client.record()).transcript.map(({ speaker }: Json) => speaker)).toEqual(['agent']);
});
