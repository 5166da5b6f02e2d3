import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type HookFault, HookError } from '../../../src/shared/hooks/errors.ts';
import { readNetworks } from '../../../src/shared/hooks/networks.ts';
import { askPreDial, readAnswer } from '../../../src/shared/hooks/pre-dial.ts';
import { allowAll, sendJson, startHookServer, type HookAnswer } from './hook-server.ts';

const secret = 'a-secret-for-tests-only';
const at = Date.UTC(2030, 0, 15, 12, 0, 0, 700);
const recipients = [
  { ref: 'spring/1/1', phone: '+12125550101', id: 'A-1', row: 1 },
  { ref: 'spring/2/1', phone: '+12125550102', id: null, row: 2 },
];
const refs = recipients.map(({ ref }) => ref);
const question = { campaign: 'spring', batch: 'spring/1/1', recipients };

function ask(url: string, changes: { kept?: string; timeoutMs?: number; secret?: string | null; stopping?: AbortSignal } = {}) {
  const { kept } = changes;
  return askPreDial(question, {
    url,
    secret,
    eventId: 'spring/1/1/pre_dial/7',
    timeoutMs: 20_000,
    networks: readNetworks('127.0.0.1') ?? undefined,
    nowReal: () => at,
    readVariable: (name) => (name === 'CARILLON_URL_HOOK' ? kept : undefined),
    stopping: new AbortController().signal,
    ...changes,
  });
}

async function faultOf(asked: Promise<unknown>): Promise<HookError> {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HookError)) throw new Error(`no HookError: ${String(error)}`);
  return error;
}

test('the question is signed and names the people of the batch, and the answer is read for each', async () => {
  const hook = await startHookServer((response) =>
    sendJson(response, {
      note: 'unknown fields are left alone',
      recipients: [
        { ref: 'spring/2/1', eligible: false, reason: 'no_consent' },
        { ref: 'spring/1/1', eligible: true, line_type: 'mobile' },
      ],
    }),
  );
  const verdicts = await ask(hook.url);
  expect(Object.fromEntries(verdicts)).toEqual({
    'spring/1/1': { kind: 'eligible' },
    'spring/2/1': { kind: 'refused', code: 'no_consent' },
  });
  const [call] = hook.calls;
  expect(call?.body).toEqual({ event: 'pre_dial', ...question });
  expect(call?.path).toBe('/hook?token=planted');
  expect(call?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': 'spring/1/1/pre_dial/7',
  });
  const seconds = Math.floor(at / 1000);
  const signed = `spring/1/1/pre_dial/7.${seconds}.${call?.text}`;
  expect(call?.headers).toMatchObject({
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  });
});

const yes = (ref: string) => ({ ref, eligible: true });

test('each kind of answer is read as what it says', () => {
  const read = (entry: object) => readAnswer(JSON.stringify({ recipients: [{ ref: 'r', ...entry }] }), ['r']).get('r');
  expect(read({ eligible: true })).toEqual({ kind: 'eligible' });
  expect(read({ eligible: false })).toEqual({ kind: 'refused', code: null });
  expect(read({ eligible: false, reason: 'landline' })).toEqual({ kind: 'refused', code: 'landline' });
  expect(read({ eligible: false, retry_after: '2h' })).toEqual({ kind: 'later', afterMs: 7_200_000 });
  // Words may hold what belongs to a person.
  expect(read({ eligible: false, reason: 'Ana asked on +12125550101' })).toEqual({ kind: 'refused', code: null });
  expect(read({ eligible: false, reason: 'x'.repeat(41) })).toEqual({ kind: 'refused', code: null });
});

const unusable: [what: string, body: string, told: RegExp][] = [
  ['no JSON', 'yes, both', /it is not JSON/],
  ['nothing', '', /it is not JSON/],
  ['another value', 'true', /it is no JSON object with "recipients"/],
  ['no recipients', '{}', /"recipients" is missing/],
  ['half an answer', JSON.stringify({ recipients: [yes('spring/1/1')] }), /1 of the 2 asked about/],
  ['no verdict', JSON.stringify({ recipients: [yes('spring/1/1'), { ref: 'spring/2/1' }] }), /"recipients.1.eligible"/],
  ['a verdict in words', JSON.stringify({ recipients: [yes('spring/1/1'), { ref: 'spring/2/1', eligible: 'true' }] }), /"recipients.1.eligible"/],
  ['a number as verdict', JSON.stringify({ recipients: [yes('spring/1/1'), { ref: 'spring/2/1', eligible: 1 }] }), /"recipients.1.eligible"/],
  ['the same twice', JSON.stringify({ recipients: [yes('spring/1/1'), yes('spring/1/1'), yes('spring/2/1')] }), /"recipients.1.ref" stands there twice/],
  ['somebody else', JSON.stringify({ recipients: [yes('spring/1/1'), yes('spring/2/1'), yes('+12125550103')] }), /"recipients.2.ref" was not asked about/],
  ['a time that is none', JSON.stringify({ recipients: [yes('spring/1/1'), { ref: 'spring/2/1', eligible: false, retry_after: 'soon' }] }), /"recipients.1.retry_after"/],
  ['yes and later', JSON.stringify({ recipients: [yes('spring/1/1'), { ...yes('spring/2/1'), retry_after: '2h' }] }), /"recipients.1" is eligible and has "retry_after"/],
]; // prettier-ignore

test.each(unusable)('an answer with %s allows nobody', (_what, body, told) => {
  expect(() => readAnswer(body, refs)).toThrow(told);
  try {
    readAnswer(body, refs);
  } catch (error) {
    expect(error).toMatchObject({ name: 'HookError', fault: 'unusable' });
    expect((error as Error).message).not.toMatch(/555|spring/);
  }
});

const failures: [what: string, fault: HookFault, status: number | null, answer: HookAnswer][] = [
  ['fails', 'status', 500, (response) => sendJson(response, { recipients: refs.map(yes) }, 500)],
  ['refuses', 'status', 401, (response) => sendJson(response, { recipients: refs.map(yes) }, 401)],
  [
    'sends elsewhere',
    'redirect',
    307,
    (response, { path }) => {
      if (path !== '/hook?token=planted') sendJson(response, { recipients: refs.map(yes) });
      else response.writeHead(307, { location: '/elsewhere' }).end();
    },
  ],
  [
    'answers far too much',
    'too_large',
    null,
    (response) => sendJson(response, { recipients: refs.map(yes), filler: 'x'.repeat(1024 * 1024) }),
  ],
  ['breaks off', 'no_connection', null, (response) => response.socket?.destroy()],
  [
    'breaks off within its answer',
    'no_connection',
    null,
    (response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"recipients":', () => response.socket?.destroy());
    },
  ],
];

test.each(failures)('a hook that %s allows nobody (%s)', async (_what, fault, status, answer) => {
  const hook = await startHookServer(answer);
  const error = await faultOf(ask(hook.url));
  expect(error).toMatchObject({ fault, status });
  expect(error.message).not.toMatch(/planted|\d555\d{4}|secret/);
  expect(hook.calls).toHaveLength(1);
});

test.each([
  ['never', () => {}],
  [
    'never to its end',
    (response) => {
      response.writeHead(200);
      response.write('{');
    },
  ],
] as [string, HookAnswer][])('a hook that answers %s is left after its time limit', async (_what, answer) => {
  const hook = await startHookServer(answer);
  expect(await faultOf(ask(hook.url, { timeoutMs: 150 }))).toMatchObject({
    fault: 'timeout',
    message: 'it did not answer within 0.15 s',
  });
});

test('a hook that nobody serves, one that does not speak HTTP, and a worker that stops', async () => {
  const hook = await startHookServer(allowAll);
  await hook.stop();
  const refused = await faultOf(ask(hook.url));
  expect([refused.fault, refused.message]).toEqual(['no_connection', 'no connection, or it broke (ECONNREFUSED)']);

  const other = createServer((socket) => socket.end('SSH-2.0-something\r\n')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  expect(await faultOf(ask(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`))).toMatchObject({
    fault: 'no_connection',
  });

  const stopping = new AbortController();
  const silent = await startHookServer(() => stopping.abort());
  expect(await faultOf(ask(silent.url, { stopping: stopping.signal }))).toMatchObject({ fault: 'stopped' });
});

test('without a secret nothing is sent', async () => {
  const hook = await startHookServer();
  expect(await faultOf(ask(hook.url, { secret: null }))).toMatchObject({ fault: 'no_secret' });
  expect(hook.calls).toEqual([]);
});

test('the key in the address of a hook is not kept: the campaign file says where the address stands', async () => {
  const hook = await startHookServer();
  expect([...(await ask('env://CARILLON_URL_HOOK', { kept: hook.url })).keys()]).toEqual(refs);
  expect(hook.calls[0]?.path).toBe('/hook?token=planted');
  for (const kept of ['', 'http://hooks.example.com/planted', 'planted']) {
    const error = await faultOf(ask('env://CARILLON_URL_HOOK', { kept }));
    expect(error.fault).toBe('no_address' satisfies HookFault);
    expect(error.message).toContain('env://CARILLON_URL_HOOK');
    expect(error.message).not.toContain('planted');
  }
});
