import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import * as fc from 'fast-check';
import { WebSocket as BrowserSocket, type CloseEvent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestSandbox, type Json, type TestSandbox } from '../harness.ts';
import { connect, converse, createAgent, pass, refusal, signedUrl, turnedAway } from './socket-client.ts';

const quick = { sockets: { pacing: 'fast' } } as const;
const reuses = async (sandbox: TestSandbox): Promise<number> => {
  const { checks } = (await sandbox.get('/_sandbox/conduct')).body;
  return checks.find(({ name }: Json) => name === 'credential_reuse').violations.length;
};
const records = async (sandbox: TestSandbox): Promise<Json[]> => (await sandbox.get('/v1/convai/conversations')).body.conversations;

test('a socket that is refused closes with 1008 and a reason, which a browser can read', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = `${sandbox.url.replace('http', 'ws')}/v1/convai/conversation?agent_id=agent_reminders&conversation_signature=x`;
  // The WebSocket of browsers, which tells nothing of an answer over HTTP.
  const socket = new BrowserSocket(url, 'convai');
  onTestFinished(() => socket.close());
  const [close] = (await once(socket as unknown as EventTarget, 'close')) as [CloseEvent];
  expect([close.code, close.reason]).toEqual([1008, 'invalid_signed_url']);
  expect(Buffer.byteLength(close.reason)).toBeLessThanOrEqual(123);
});

test('what a client sends that was turned away is not read, and hurts nobody', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = `${sandbox.url.replace('http', 'ws')}/v1/convai/rtc?token=x`;
  const socket = new WebSocket(url, 'convai');
  onTestFinished(() => socket.terminate());
  socket.on('error', () => undefined);
  socket.on('open', () => {
    socket.send('x'.repeat(3_000_000));
    socket.send('{"type":"conversation_initiation_client_data"}');
  });
  await once(socket, 'close');
  expect(await records(sandbox)).toEqual([]);
});

test('a signed address that was used is refused, and the reuse is noted', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = await signedUrl(sandbox, 'agent_reminders');
  await connect(url);
  expect(await turnedAway(url)).toEqual({
    code: 1008,
    reason: 'signed_url_used',
    error: {
      code: 1008,
      error_type: 'signed_url_used',
      message: 'The signed URL has been used; it serves one conversation. Get another one.',
      reason: 'signed_url_used',
    },
  });
  expect(await reuses(sandbox)).toBe(1);
});

test('a signed address holds for fifteen minutes and not a millisecond longer', async () => {
  const sandbox = await startTestSandbox(quick);
  const [one, two] = [await signedUrl(sandbox, 'agent_reminders'), await signedUrl(sandbox, 'agent_reminders')];
  sandbox.clock.advance(15 * 60_000 - 1);
  await connect(one);
  sandbox.clock.advance(1);
  expect(await turnedAway(two)).toMatchObject({ code: 1008, reason: 'signed_url_expired' });
  expect(await reuses(sandbox)).toBe(1);
});

test('a signed address serves no other agent, and the attempt does not use it up', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = await signedUrl(sandbox, 'agent_reminders');
  const forged = url.replace('agent_id=agent_reminders', 'agent_id=agent_survey');
  expect(await turnedAway(forged)).toMatchObject({ code: 1008, reason: 'wrong_agent' });
  expect(await reuses(sandbox)).toBe(0);
  await connect(url);
});

test('of two sockets at once with one signed address exactly one is accepted', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = await signedUrl(sandbox, 'agent_reminders');
  const clients = await Promise.all([connect(url), connect(url), connect(url)]);
  for (const client of clients) await client.settle();
  const open = clients.filter(({ socket }) => socket.readyState === WebSocket.OPEN);
  expect(open).toHaveLength(1);
});

test.each([
  ['', 'bad_request'],
  ['?agent_id=agent_reminders', 'bad_request'],
  ['?conversation_signature=cvsig_x', 'bad_request'],
  ['?agent_id=agent_reminders&conversation_signature=', 'bad_request'],
  ['?agent_id=agent_reminders&agent_id=agent_survey&conversation_signature=cvsig_x', 'bad_request'],
  ['?agent_id=agent_reminders&conversation_signature=cvsig_never-issued', 'invalid_signed_url'],
  ['?agent_id=agent_reminders&conversation_signature=%00%ff', 'invalid_signed_url'],
])('a query of "%s" is refused with 1008 %s', async (query, reason) => {
  const sandbox = await startTestSandbox(quick);
  const refused = await turnedAway(`${sandbox.url.replace('http', 'ws')}/v1/convai/conversation${query}`);
  expect(refused).toMatchObject({ code: 1008, reason });
});

test('an API key opens no socket', async () => {
  const sandbox = await startTestSandbox(quick);
  const address = `${sandbox.url.replace('http', 'ws')}/v1/convai/conversation?agent_id=agent_reminders`;
  const refused = await turnedAway(address, { headers: { 'x-api-key': 'sk_sandbox_ok' } });
  expect(refused).toMatchObject({
    reason: 'bad_request',
    error: { message: 'conversation_signature is missing in the query. Use the address as it was given.' },
  });
});

test('an agent that was deleted after the address was given is refused, and no socket is served anywhere else', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = await signedUrl(sandbox, 'agent_survey');
  await sandbox.request('DELETE', '/v1/convai/agents/agent_survey');
  expect(await turnedAway(url)).toMatchObject({ code: 1008, reason: 'agent_not_found' });
  const elsewhere = await refusal(`${sandbox.url.replace('http', 'ws')}/v1/convai/agents`);
  expect(elsewhere).toMatchObject({
    status: 404,
    headers: { 'x-sandbox': '1', 'content-type': 'application/json; charset=utf-8' },
    body: { detail: { code: 'route_not_found', request_id: expect.any(String) } },
  });
});

test('an agent that is deleted while a client makes up its mind ends the conversation before it begins', async () => {
  const sandbox = await startTestSandbox(quick);
  const client = await connect(await signedUrl(sandbox, 'agent_survey'));
  await sandbox.request('DELETE', '/v1/convai/agents/agent_survey');
  client.send({ type: 'conversation_initiation_client_data' });
  expect(await client.closed).toEqual({ code: 1008, reason: 'agent_not_found' });
  expect(await records(sandbox)).toEqual([]);
});

test('when all lines are in use a socket is refused and may be tried again', async () => {
  const sandbox = await startTestSandbox({ ...quick, concurrency: 1 });
  const client = await converse(sandbox, 'agent_reminders');
  const url = await signedUrl(sandbox, 'agent_reminders');
  expect(await turnedAway(url)).toMatchObject({ code: 1008, reason: 'concurrency_limit_exceeded' });
  client.socket.close(1000);
  await client.closed;
  await connect(url);
});

test('of two clients that were let in for one line, the second to begin is told that there is none', async () => {
  const sandbox = await startTestSandbox({ ...quick, concurrency: 1 });
  const one = await connect(await signedUrl(sandbox, 'agent_reminders'));
  const two = await connect(await signedUrl(sandbox, 'agent_reminders'));
  one.send({ type: 'conversation_initiation_client_data' });
  await one.next('conversation_initiation_metadata');
  two.send({ type: 'conversation_initiation_client_data' });
  expect(await two.closed).toEqual({ code: 1008, reason: 'concurrency_limit_exceeded' });
});

test.each([
  ['not json', 'invalid_message'],
  ['', 'invalid_message'],
  ['null', 'invalid_message'],
  ['[]', 'invalid_message'],
  ['{"text":"no type"}', 'missing_fields'],
  ['{"type":"sing"}', 'unknown_message_type'],
  ['{"type":"__proto__"}', 'unknown_message_type'],
  ['{"type":"user_message"}', 'missing_fields'],
  ['{"type":"user_message","text":""}', 'invalid_message'],
  ['{"type":"user_message","text":7}', 'invalid_message'],
  ['{"type":"user_message","text":"a","mood":"b"}', 'invalid_message'],
  ['{"type":"user_message","text":"a","__proto__":{"b":1}}', 'invalid_message'],
  ['{"type":"pong"}', 'missing_fields'],
  ['{"type":"feedback","event_id":1,"score":"great"}', 'invalid_message'],
  ['{"type":"client_tool_result","result":"a"}', 'missing_fields'],
  ['{"user_audio_chunk":"not base64!"}', 'invalid_message'],
  ['{"user_audio_chunk":"AAAA"}', 'invalid_message'],
])('the frame %s ends the conversation with 1008 %s, and the record says why', async (frame, errorType) => {
  const sandbox = await startTestSandbox(quick);
  const client = await converse(sandbox, 'agent_reminders');
  client.send(frame);
  expect((await client.next('error')).error_event).toMatchObject({ code: 1008, error_type: errorType });
  expect(await client.closed).toEqual({ code: 1008, reason: errorType });
  await pass(sandbox, 10_000);
  const { body } = await sandbox.get(`/v1/convai/conversations/${client.conversationId}`);
  expect(body).toMatchObject({ status: 'done', metadata: { end_time: '2030-01-15T12:00:00.000Z' } });
  expect(body.termination_reason).not.toBe('');
});

test.each([
  [{ conversation_config_override: { agent: { llm: { temperature: 7 } } } }, 'override_error'],
  [{ conversation_config_override: { agent: { shoe_size: 7 } } }, 'override_error'],
  [{ dynamic_variables: { name: { nested: true } } }, 'invalid_message'],
  [{ api_key: 'sk_secret' }, 'invalid_message'],
])('initiation data such as %j are refused', async (initiation, errorType) => {
  const sandbox = await startTestSandbox(quick);
  const client = await connect(await signedUrl(sandbox, 'agent_reminders'));
  client.send({ type: 'conversation_initiation_client_data', ...initiation });
  const { error_event: error } = await client.next('error');
  expect(error.error_type).toBe(errorType);
  expect(error.message).not.toContain('sk_secret');
  expect(await records(sandbox)).toEqual([]);
});

test('a variable named __proto__ is refused, also in loose mode', async () => {
  const sandbox = await startTestSandbox({ ...quick, loose: true });
  const client = await connect(await signedUrl(sandbox, 'agent_reminders'));
  client.send('{"type":"conversation_initiation_client_data","dynamic_variables":{"__proto__":"x"}}');
  expect(await client.closed).toEqual({ code: 1008, reason: 'invalid_message' });
});

test('what is not known is let pass in loose mode', async () => {
  const sandbox = await startTestSandbox({ ...quick, loose: true });
  const client = await converse(sandbox, 'agent_reminders', { novelty: 1 });
  client.send({ type: 'sing', song: 'a' });
  client.send({ type: 'user_activity', mood: 'b' });
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});

test('a binary frame ends the conversation with 1008', async () => {
  const sandbox = await startTestSandbox(quick);
  const client = await converse(sandbox, 'agent_reminders');
  client.socket.send(Buffer.from('{"type":"user_activity"}'), { binary: true });
  expect(await client.closed).toEqual({ code: 1008, reason: 'invalid_message' });
});

test('a frame of a megabyte is taken, one byte more closes with 1009', async () => {
  const sandbox = await startTestSandbox(quick);
  const client = await converse(sandbox, 'agent_reminders');
  const frame = (bytes: number): string => `{"type":"user_activity"}${' '.repeat(bytes - 24)}`;
  client.send(frame(1024 * 1024));
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
  client.send(frame(1024 * 1024 + 1));
  expect((await client.closed).code).toBe(1009);
  await pass(sandbox, 10_000);
  const { body } = await sandbox.get(`/v1/convai/conversations/${client.conversationId}`);
  expect(body).toMatchObject({ status: 'done', termination_reason: 'The connection was lost.' });
});

test('a client that answers no ping is gone after twenty seconds', async () => {
  const sandbox = await startTestSandbox(quick);
  const client = await converse(sandbox, 'agent_reminders', {}, { answersPings: false });
  for (let step = 0; step < 3; step += 1) {
    client.send({ type: 'user_activity' });
    await client.settle();
    await pass(sandbox, 9_990);
  }
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
  await pass(sandbox, 30);
  expect(await client.closed).toEqual({ code: 1002, reason: 'pong_timeout' });
  const { body } = await sandbox.get(`/v1/convai/conversations/${client.conversationId}`);
  expect(body.metadata.duration).toBe(30);
});

test('a client that answers pings and says nothing is sent away after a minute', async () => {
  const sandbox = await startTestSandbox(quick);
  const client = await converse(sandbox, 'agent_reminders');
  for (let step = 0; step < 6; step += 1) {
    await client.settle();
    await pass(sandbox, 9_990);
  }
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
  await pass(sandbox, 60);
  expect(await client.closed).toEqual({ code: 1002, reason: 'transport_receive_timeout' });
});

test('a half-closed connection ends the conversation', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = new URL(await signedUrl(sandbox, 'agent_reminders'));
  const socket = connectTcp({ host: url.hostname, port: Number(url.port), allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write(
    [
      `GET ${url.pathname}${url.search} HTTP/1.1`,
      `host: ${url.host}`,
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
      '\r\n',
    ].join('\r\n'),
  );
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 101 /);
  // A masked frame of text that begins the conversation.
  const payload = Buffer.from('{"type":"user_activity"}');
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]));
  await once(socket, 'data');
  socket.end();
  socket.resume();
  await once(socket, 'close');
  await pass(sandbox, 10_000);
  const [entry] = await records(sandbox);
  expect(entry).toMatchObject({ status: 'done', termination_reason: 'The connection was lost.' });
});

test('a handshake that is none is refused in the shape of all refusals, and uses nothing up', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = await signedUrl(sandbox, 'agent_reminders');
  const http = await raw(sandbox, [`GET ${new URL(url).pathname}${new URL(url).search} HTTP/1.1`, 'upgrade: h2c', 'connection: upgrade']);
  expect(http).toMatch(/^HTTP\/1\.1 400 /);
  expect(http).toContain('"code":"bad_handshake"');
  await connect(url);
});

async function raw(sandbox: TestSandbox, head: string[]): Promise<string> {
  const socket = connectTcp(sandbox.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.end([...head, `host: 127.0.0.1:${sandbox.port}`, '\r\n'].join('\r\n'));
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

test('a flood of messages ends the conversation, whose transcript stays bounded', async () => {
  const sandbox = await startTestSandbox(quick);
  const client = await converse(sandbox, 'agent_reminders');
  for (let nth = 0; nth < 5_000; nth += 1) client.send({ type: 'user_message', text: `message ${nth}` });
  expect(await client.closed).toEqual({ code: 1008, reason: 'rate_limit_exceeded' });
  await pass(sandbox, 10_000);
  const { body } = await sandbox.get(`/v1/convai/conversations/${client.conversationId}`);
  expect(body.transcript.length).toBeLessThanOrEqual(1_002);
});

test('a transcript has no more than two thousand turns, however many messages are allowed', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', maxMessagesPerSecond: 10_000 } });
  const client = await converse(sandbox, 'agent_reminders', { conversation_config_override: { conversation: { client_events: [] } } });
  for (let nth = 0; nth < 2_100; nth += 1) client.send({ type: 'user_message', text: 'Pardon?' });
  await client.settle();
  const { body } = await sandbox.get(`/v1/convai/conversations/${client.conversationId}`);
  expect(body.transcript).toHaveLength(2_000);
});

test('a client that does not read is sent no more than it is allowed to have open, and is then given up', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', maxUnsentBytes: 200_000, maxMessagesPerSecond: 100_000 } });
  const agentId = await createAgent(sandbox, {
    agent: { first_message: 'A long sentence that goes on. '.repeat(200) },
    conversation: { client_events: ['agent_response', 'audio', 'vad_score'] },
  });
  const client = await converse(sandbox, agentId);
  client.socket.pause();
  const chunk = JSON.stringify({ user_audio_chunk: Buffer.alloc(640).toString('base64') });
  // Every chunk is answered with a score that the client does not read.
  while (client.socket.readyState === client.socket.OPEN && (await isOpen(sandbox, client.conversationId)))
    for (let nth = 0; nth < 2_000; nth += 1) client.send(chunk);
  const { body } = await sandbox.get(`/v1/convai/conversations/${client.conversationId}`);
  expect(body.termination_reason).toBe('The client reads too slowly.');
});

async function isOpen(sandbox: TestSandbox, conversationId: string): Promise<boolean> {
  return (await sandbox.get(`/v1/convai/conversations/${conversationId}`)).body.status === 'in-progress';
}

test('sound that is sent as fast as it is read waits for a slow reader, and comes whole', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', maxUnsentBytes: 400_000 } });
  const text = 'A long sentence that goes on. '.repeat(300);
  const agentId = await createAgent(sandbox, {
    tts: { voice_id: 'voice_one', agent_output_audio_format: 'pcm_16000' },
    agent: { first_message: text },
  });
  const client = await converse(sandbox, agentId);
  client.socket.pause();
  await sandbox.get('/_sandbox/health');
  client.socket.resume();
  let heard = '';
  while (heard.length < text.length) heard += (await client.next('audio')).audio_event.alignment.chars.join('');
  expect(heard).toBe(text);
});

test('no frame whatever makes the sandbox fail', async () => {
  const sandbox = await startTestSandbox(quick);
  const json = fc.jsonValue().map((value) => JSON.stringify(value));
  const nearly = fc.record(
    {
      type: fc.constantFrom('user_message', 'pong', 'feedback', 'client_tool_result', 'contextual_update', 'ping', ''),
      text: fc.jsonValue(),
      event_id: fc.jsonValue(),
      score: fc.jsonValue(),
      tool_call_id: fc.jsonValue(),
      result: fc.jsonValue(),
      user_audio_chunk: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const frames = fc.array(
    fc.oneof(
      fc.string(),
      json,
      nearly.map((value) => JSON.stringify(value)),
    ),
    { minLength: 1, maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(frames, async (sent) => {
      const client = await converse(sandbox, 'agent_reminders');
      for (const frame of sent) client.send(frame);
      client.send('{"type":"no such type"}');
      expect((await client.closed).code).toBe(1008);
    }),
    { seed: 7, numRuns: 60 },
  );
});

test('addresses of sockets are in the journal without their credentials', async () => {
  const sandbox = await startTestSandbox(quick);
  const url = await signedUrl(sandbox, 'agent_reminders');
  await connect(url);
  await turnedAway(url);
  await refusal(`${sandbox.url.replace('http', 'ws')}/v1/convai/conversations?x=1`);
  const signature = new URL(url).searchParams.get('conversation_signature') ?? '';
  const { entries } = (await sandbox.get('/_sandbox/journal')).body;
  const upgrades = entries.filter(({ path }: Json) => /\/conversations?\?/.test(path));
  expect(upgrades.map((entry: Json) => [entry.status, entry.ending, entry.socketRefusal])).toEqual([
    [101, 'sent', null],
    [101, 'sent', 'signed_url_used'],
    [404, 'sent', null],
  ]);
  expect(JSON.stringify(entries)).toContain('conversation_signature');
  expect(JSON.stringify(entries)).not.toContain(signature);
});

test('closing the sandbox ends open conversations', async () => {
  const sandbox = await startTestSandbox(quick);
  const client = await converse(sandbox, 'agent_reminders');
  await sandbox.close();
  expect(await client.closed).toEqual({ code: 1001, reason: 'The sandbox stops.' });
});
