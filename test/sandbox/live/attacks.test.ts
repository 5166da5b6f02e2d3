import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import * as fc from 'fast-check';
import { WebSocket as BrowserSocket, type CloseEvent } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { isFull } from '../../support/depth.ts';
import { startTestSandbox, testWith, type Json, type TestSandbox } from '../harness.ts';
import { connect, converse, pass, refusal, signedUrl, turnedAway } from './socket-client.ts';

const quick = { sockets: { pacing: 'fast' } } as const;
const test = testWith(quick);
const records = async (sandbox: TestSandbox): Promise<Json[]> => (await sandbox.read('/v1/convai/conversations')).conversations;

test('a socket that is refused closes with 1008 and a reason, which a browser can read', async ({ sandbox }) => {
  const url = `${sandbox.url.replace('http', 'ws')}/v1/convai/conversation?agent_id=agent_reminders&conversation_signature=x`;
  // The WebSocket of browsers, which tells nothing of an answer over HTTP.
  const socket = new BrowserSocket(url, 'convai');
  onTestFinished(() => socket.close());
  const [close] = (await once(socket as unknown as EventTarget, 'close')) as [CloseEvent];
  expect([close.code, close.reason]).toEqual([1008, 'invalid_signed_url']);
  expect(Buffer.byteLength(close.reason)).toBeLessThanOrEqual(123);
});

test('what a client sends that was turned away is not read, and hurts nobody', async ({ sandbox }) => {
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

test('a signed address opens one socket for its agent within fifteen minutes, and use after that is noted', async ({ sandbox }) => {
  const reuses = (): number => sandbox.violations('credential_reuse').length;
  const issue = (): Promise<string> => signedUrl(sandbox, 'agent_reminders');
  const [one, two, three] = [await issue(), await issue(), await issue()];
  const forged = one.replace('agent_id=agent_reminders', 'agent_id=agent_survey');
  expect(await turnedAway(forged)).toMatchObject({ code: 1008, reason: 'wrong_agent' });
  expect(reuses()).toBe(0);
  const clients = await Promise.all([connect(one), connect(one), connect(one)]);
  for (const client of clients) await client.settle();
  expect(clients.filter(({ socket }) => socket.readyState === WebSocket.OPEN)).toHaveLength(1);
  expect(await turnedAway(one)).toEqual({
    code: 1008,
    reason: 'signed_url_used',
    error: {
      code: 1008,
      error_type: 'signed_url_used',
      message: 'The signed URL has been used; it serves one conversation. Get another one.',
      reason: 'signed_url_used',
    },
  });
  expect(reuses()).toBe(3);
  sandbox.clock.advance(15 * 60_000 - 1);
  await connect(two);
  sandbox.clock.advance(1);
  expect(await turnedAway(three)).toMatchObject({ code: 1008, reason: 'signed_url_expired' });
  expect(reuses()).toBe(4);
});

test('a query without agent and signature is refused with 1008, whatever the API key', async ({ sandbox }) => {
  const [agent, signature] = ['agent_id=agent_reminders', 'conversation_signature='];
  for (const [query, reason] of [
    ['', 'bad_request'],
    [agent, 'bad_request'],
    [`${signature}cvsig_x`, 'bad_request'],
    [`${agent}&${signature}`, 'bad_request'],
    [`${agent}&agent_id=agent_survey&${signature}cvsig_x`, 'bad_request'],
    [`${agent}&${signature}cvsig_never-issued`, 'invalid_signed_url'],
    [`${agent}&${signature}%00%ff`, 'invalid_signed_url'],
  ] as const) {
    const url = `${sandbox.url.replace('http', 'ws')}/v1/convai/conversation?${query}`;
    const refused = await turnedAway(url, { headers: { 'x-api-key': 'sk_sandbox_ok' } });
    expect([query, refused]).toMatchObject([query, { code: 1008, reason }]);
    if (query !== agent) continue;
    expect(refused.error.message).toBe('conversation_signature is missing in the query. Use the address as it was given.');
  }
});

test('an agent that was deleted after the address was given is refused, and no socket is served anywhere else', async ({ sandbox }) => {
  const url = await signedUrl(sandbox, 'agent_survey');
  await sandbox.delete('/v1/convai/agents/agent_survey');
  expect(await turnedAway(url)).toMatchObject({ code: 1008, reason: 'agent_not_found' });
  const elsewhere = await refusal(`${sandbox.url.replace('http', 'ws')}/v1/convai/agents`);
  expect(elsewhere).toMatchObject({
    status: 404,
    headers: { 'x-sandbox': '1', 'content-type': 'application/json; charset=utf-8' },
    body: { detail: { code: 'route_not_found', request_id: expect.any(String) } },
  });
});

test('an agent that is deleted while a client makes up its mind ends the conversation before it begins', async ({ sandbox }) => {
  const client = await connect(await signedUrl(sandbox, 'agent_survey'));
  await sandbox.delete('/v1/convai/agents/agent_survey');
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

test('a frame that cannot be ends the conversation with 1008, and the record says why', async ({ sandbox }) => {
  const broken: [frame: string | Buffer, reason: string][] = [
    [Buffer.from('{"type":"user_activity"}'), 'invalid_message'],
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
  ];
  for (const [frame, reason] of broken) {
    const client = await converse(sandbox, 'agent_reminders');
    const end_time = new Date(sandbox.clock.now()).toISOString();
    client.socket.send(frame, { binary: typeof frame !== 'string' });
    expect([frame, (await client.next('error')).error_event]).toMatchObject([frame, { code: 1008, error_type: reason }]);
    expect(await client.closed).toEqual({ code: 1008, reason });
    await pass(sandbox, 10_000);
    const body = await client.record();
    expect(body).toMatchObject({ status: 'done', metadata: { end_time }, termination_reason: expect.stringMatching(/./) });
  }
});

test('initiation data that cannot be are refused, and nothing of them is repeated', async ({ sandbox }) => {
  const loose = await startTestSandbox({ ...quick, loose: true });
  const refused: [more: string, reason: string, of?: TestSandbox][] = [
    ['"conversation_config_override":{"agent":{"llm":{"temperature":7}}}', 'override_error'],
    ['"conversation_config_override":{"agent":{"shoe_size":7}}', 'override_error'],
    ['"dynamic_variables":{"name":{"nested":true}}', 'invalid_message'],
    ['"api_key":"sk_secret"', 'invalid_message'],
    ['"dynamic_variables":{"__proto__":"x"}', 'invalid_message', loose],
  ];
  for (const [more, reason, of = sandbox] of refused) {
    const client = await connect(await signedUrl(of, 'agent_reminders'));
    client.send(`{"type":"conversation_initiation_client_data",${more}}`);
    const { error_event: error } = await client.next('error');
    expect([more, error.error_type]).toEqual([more, reason]);
    expect(error.message).not.toContain('sk_secret');
    expect(await client.closed).toEqual({ code: 1008, reason });
    expect(await records(of)).toEqual([]);
  }
});

test('what is not known is let pass in loose mode', async () => {
  const sandbox = await startTestSandbox({ ...quick, loose: true });
  const client = await converse(sandbox, 'agent_reminders', { novelty: 1 });
  client.send({ type: 'sing', song: 'a' });
  client.send({ type: 'user_activity', mood: 'b' });
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});

test('a frame of a megabyte is taken, one byte more closes with 1009', async ({ sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders');
  const frame = (bytes: number): string => `{"type":"user_activity"}${' '.repeat(bytes - 24)}`;
  client.send(frame(1024 * 1024));
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
  client.send(frame(1024 * 1024 + 1));
  expect((await client.closed).code).toBe(1009);
  await pass(sandbox, 10_000);
  const body = await client.record();
  expect(body).toMatchObject({ status: 'done', termination_reason: 'The connection was lost.' });
});

test.for([
  ['answers no ping is gone after twenty seconds', false, 3, 30, 'pong_timeout'],
  ['answers pings and says nothing is sent away after a minute', true, 6, 60, 'transport_receive_timeout'],
] as const)('a client that %s', async ([_what, answersPings, steps, leftMs, reason], { sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders', {}, { answersPings });
  for (let step = 0; step < steps; step += 1) {
    if (!answersPings) client.send({ type: 'user_activity' });
    await client.settle();
    await pass(sandbox, 9_990);
  }
  await client.settle();
  expect(client.socket.readyState).toBe(client.socket.OPEN);
  await pass(sandbox, leftMs);
  expect(await client.closed).toEqual({ code: 1002, reason });
  const { metadata } = await client.record();
  expect(metadata.duration).toBe(steps * 10);
});

test('a half-closed connection ends the conversation', async ({ sandbox }) => {
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

test('a handshake that is none is refused in the shape of all refusals, and uses nothing up', async ({ sandbox }) => {
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

test('a flood of messages ends the conversation, whose transcript stays bounded', async ({ sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders');
  for (let nth = 0; nth < 5_000; nth += 1) client.send({ type: 'user_message', text: `message ${nth}` });
  expect(await client.closed).toEqual({ code: 1008, reason: 'rate_limit_exceeded' });
  await pass(sandbox, 10_000);
  const body = await client.record();
  expect(body.transcript.length).toBeLessThanOrEqual(1_002);
});

test('a transcript has no more than two thousand turns, however many messages are allowed', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', maxMessagesPerSecond: 10_000 } });
  const client = await converse(sandbox, 'agent_reminders', { conversation_config_override: { conversation: { client_events: [] } } });
  for (let nth = 0; nth < 2_100; nth += 1) client.send({ type: 'user_message', text: 'Pardon?' });
  await client.settle();
  const body = await client.record();
  expect(body.transcript).toHaveLength(2_000);
});

test('a client that does not read is sent no more than it is allowed to have open, and is then given up', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', maxUnsentBytes: 200_000, maxMessagesPerSecond: 100_000 } });
  const agentId = await sandbox.createAgent({
    agent: { first_message: 'A long sentence that goes on. '.repeat(200) },
    conversation: { client_events: ['agent_response', 'audio', 'vad_score'] },
  });
  const client = await converse(sandbox, agentId);
  client.socket.pause();
  const chunk = JSON.stringify({ user_audio_chunk: Buffer.alloc(640).toString('base64') });
  // Every chunk is answered with a score that the client does not read.
  while (client.socket.readyState === client.socket.OPEN && (await isOpen(sandbox, client.conversationId)))
    for (let nth = 0; nth < 2_000; nth += 1) client.send(chunk);
  const body = await client.record();
  expect(body.termination_reason).toBe('The client reads too slowly.');
});

async function isOpen(sandbox: TestSandbox, conversationId: string): Promise<boolean> {
  return (await sandbox.read(`/v1/convai/conversations/${conversationId}`)).status === 'in-progress';
}

test('sound that is sent as fast as it is read waits for a slow reader, and comes whole', async () => {
  const sandbox = await startTestSandbox({ sockets: { pacing: 'fast', maxUnsentBytes: 400_000 } });
  const text = 'A long sentence that goes on. '.repeat(300);
  const agentId = await sandbox.createAgent({
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

test('no frame whatever makes the sandbox fail', async ({ sandbox }) => {
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
    { seed: 7, numRuns: isFull ? 60 : 20 },
  );
});

test('addresses of sockets are in the journal without their credentials', async ({ sandbox }) => {
  const url = await signedUrl(sandbox, 'agent_reminders');
  await connect(url);
  await turnedAway(url);
  await refusal(`${sandbox.url.replace('http', 'ws')}/v1/convai/conversations?x=1`);
  const signature = new URL(url).searchParams.get('conversation_signature') ?? '';
  const { entries } = await sandbox.read('/_sandbox/journal');
  const upgrades = entries.filter(({ path }: Json) => /\/conversations?\?/.test(path));
  expect(upgrades.map((entry: Json) => [entry.status, entry.ending, entry.socketRefusal])).toEqual([
    [101, 'sent', null],
    [101, 'sent', 'signed_url_used'],
    [404, 'sent', null],
  ]);
  expect(JSON.stringify(entries)).toContain('conversation_signature');
  expect(JSON.stringify(entries)).not.toContain(signature);
});

test('closing the sandbox ends open conversations', async ({ sandbox }) => {
  const client = await converse(sandbox, 'agent_reminders');
  await sandbox.close();
  expect(await client.closed).toEqual({ code: 1001, reason: 'The sandbox stops.' });
});
