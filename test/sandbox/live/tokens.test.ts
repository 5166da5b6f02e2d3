import { decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { expect } from 'vitest';
import { noon, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';
import { connect, pass, turnedAway } from './socket-client.ts';
import { spawn } from 'node:child_process';

const livekit = { apiKey: 'APIlocal', apiSecret: 'a-secret-of-32-characters-or-more' };
const quick = { sockets: { pacing: 'fast' } } as const;

async function issue(sandbox: TestSandbox, agentId = 'agent_reminders'): Promise<string> {
  return (await sandbox.read(`/v1/convai/conversation/token?agent_id=${agentId}`)).token;
}

function joinUrl(sandbox: TestSandbox, token: string): string {
  return `${sandbox.url.replace('http', 'ws')}/v1/convai/rtc?token=${token}`;
}

test('a token is a JWT that a LiveKit server with the same key and secret accepts', async () => {
  const sandbox = await startTestSandbox({ livekit });
  const token = await issue(sandbox);
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
  const { payload } = await jwtVerify(token, new TextEncoder().encode(livekit.apiSecret), {
    issuer: 'APIlocal',
    algorithms: ['HS256'],
    currentDate: new Date(noon),
  });
  expect(payload).toEqual({
    iss: 'APIlocal',
    sub: expect.stringMatching(/^user_/),
    name: payload.sub,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    iat: noon / 1000,
    nbf: noon / 1000,
    exp: noon / 1000 + 600,
    metadata: expect.any(String),
    video: { roomJoin: true, room: expect.stringMatching(/^conv_/), canPublish: true, canSubscribe: true, canPublishData: true },
  });
  expect(JSON.parse(String(payload.metadata))).toEqual({ agent_id: 'agent_reminders', conversation_id: (payload.video as Json).room });
});

test('every request gives a token of its own for a room of its own, signed with a secret of this sandbox', async ({ sandbox }) => {
  const token = await issue(sandbox);
  const [one, two] = [decodeJwt(token), decodeJwt(await issue(sandbox))];
  expect(one.jti).not.toBe(two.jti);
  expect((one.video as Json).room).not.toBe((two.video as Json).room);
  expect(await turnedAway(joinUrl(await startTestSandbox(), token))).toMatchObject({ code: 1008, reason: 'invalid_token' });
});

test('a token holds for ten minutes of service time', async ({ sandbox }) => {
  const token = await issue(sandbox);
  const other = await issue(sandbox);
  sandbox.clock.advance(599_999);
  await connect(joinUrl(sandbox, other));
  sandbox.clock.advance(1);
  expect(await turnedAway(joinUrl(sandbox, token))).toMatchObject({ code: 1008, reason: 'token_expired' });
});

test.each<[string, (token: string) => string | Promise<string>]>([
  ['nothing like a token', () => 'nonsense'],
  ['another signature', (token) => `${token.slice(0, -4)}AAAA`],
  ['the secret, but issued elsewhere', async () => sign()],
])('a token with %s joins nothing', async (_, change) => {
  const sandbox = await startTestSandbox({ livekit });
  const token = await change(await issue(sandbox));
  const refused = await turnedAway(joinUrl(sandbox, encodeURIComponent(token)));
  expect(refused).toMatchObject({ code: 1008, reason: 'invalid_token', error: { message: expect.any(String) } });
});

async function sign(): Promise<string> {
  return new SignJWT({ video: { roomJoin: true, room: 'conv_elsewhere' } })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('APIlocal')
    .setExpirationTime(noon / 1000 + 600)
    .sign(new TextEncoder().encode(livekit.apiSecret));
}

test('a token joins its conversation once, and the reuse is noted', async () => {
  const sandbox = await startTestSandbox(quick);
  const token = await issue(sandbox);
  const client = await connect(joinUrl(sandbox, token));
  client.send({ type: 'conversation_initiation_client_data' });
  const { conversation_initiation_metadata_event: metadata } = await client.next('conversation_initiation_metadata');
  expect(metadata.conversation_id).toBe((decodeJwt(token).video as Json).room);
  expect(await turnedAway(joinUrl(sandbox, token))).toMatchObject({ code: 1008, reason: 'token_used' });
  const { checks } = await sandbox.read('/_sandbox/conduct');
  expect(checks.find(({ name }: Json) => name === 'credential_reuse').violations).toHaveLength(1);
  client.socket.close(1000);
  await client.closed;
  await pass(sandbox, 10_000);
  const body = await sandbox.read(`/v1/convai/conversations/${metadata.conversation_id}`);
  expect(body).toMatchObject({
    status: 'done',
    metadata: { authorization_method: 'livekit_token', conversation_initiation_source: 'webrtc' },
  });
});

test('a token opens no signed address, nor a signature a room', async () => {
  const sandbox = await startTestSandbox(quick);
  const ws = sandbox.url.replace('http', 'ws');
  const token = await issue(sandbox);
  const signed = await sandbox.get('/v1/convai/conversation/get-signed-url?agent_id=agent_reminders');
  const signature = new URL(signed.body.signed_url).searchParams.get('conversation_signature') ?? '';
  const crossed = `${ws}/v1/convai/conversation?agent_id=agent_reminders&conversation_signature=${token}`;
  expect((await turnedAway(crossed)).reason).toBe('invalid_signed_url');
  expect((await turnedAway(joinUrl(sandbox, signature))).reason).toBe('invalid_token');
  await connect(joinUrl(sandbox, token));
});

test('neither tokens nor their secret are shown', async () => {
  const sandbox = await startTestSandbox({ livekit });
  const token = await issue(sandbox);
  await connect(joinUrl(sandbox, token));
  const kept = await Promise.all(['/_sandbox/journal', '/_sandbox/export', '/_sandbox/info'].map((path) => sandbox.get(path)));
  for (const { status, body: text } of kept) {
    expect(status).toBe(200);
    expect(JSON.stringify(text)).not.toContain(token);
    expect(JSON.stringify(text)).not.toContain(livekit.apiSecret);
  }
});

test('behind a server that does the TLS the signed address is wss in either dialect', async ({ sandbox }) => {
  const headers = { 'x-forwarded-proto': 'https' };
  const path = '/v1/convai/conversation/get-signed-url?agent_id=agent_reminders';
  const { body } = await sandbox.request('GET', path, undefined, { headers });
  expect(body.signed_url).toMatch(/^wss:\/\//);
});

test('the example client holds a conversation in a terminal', async ({ sandbox }) => {
  const child = spawn(process.execPath, ['examples/socket-client/client.mjs', sandbox.url, 'agent_reminders']);
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  const exited = new Promise((resolve) => child.once('close', resolve));
  await expect.poll(() => text).toContain('agent: Hello, I am calling');
  child.stdin.write('I will be there\n');
  await expect.poll(() => text.match(/agent: /g)?.length).toBeGreaterThanOrEqual(2);
  child.stdin.end();
  expect(await exited).toBe(0);
  expect(text).toMatch(/^\(conv_\w+\)\n/);
  expect(text).toMatch(/\(over: 1000 /);
});
