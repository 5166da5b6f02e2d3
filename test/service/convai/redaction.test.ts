import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { ConvaiClient } from '../../../src/service/convai/client.ts';
import { ServiceError, RefusedError } from '../../../src/service/port/errors.ts';
import { clientOf, deadBaseUrl, startHttpService, startRawService, testKey } from './loopback-servers.ts';

const number = '+12125550177';
const secretWord = 'Quillfeather';

/** Everything that a careless program might print of a value. */
function printed(value: unknown): string {
  const inspected = inspect(value, { depth: 20, getters: false });
  const properties = JSON.stringify(value, (_key, inner: unknown) =>
    inner instanceof Error ? { ...(inner as object), message: inner.message, stack: inner.stack, cause: inner.cause } : inner,
  );
  return `${inspected}\n${properties}\n${value instanceof Error ? String(value.stack) : ''}`;
}

const place = (client: ConvaiClient) =>
  client.placeBatchCalls(
    {
      agent_id: 'a',
      from_phone_number_id: 'p',
      calls: [
        {
          to_phone_number: number,
          conversation_config_override: { agent: { first_message: secretWord } },
          variables: { name: secretWord },
        },
      ],
    },
    { requestId: 'b/1', mayBegin: () => true },
  );

const calls: ((client: ConvaiClient) => Promise<unknown>)[] = [
  place,
  (client) => client.getAgent('a'),
  (client) =>
    client.importPhoneNumber({
      label: secretWord,
      phone_number: number,
      telephony_account_sid: secretWord,
      telephony_auth_token: secretWord,
    }),
];

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each([200, 302, 400, 401, 404, 409, 422, 429, 500])(
  'an answer %i that echoes the key, a number and fields leaks none of them',
  async (status) => {
    const echo = `Key ${testKey} may not call ${number} (${secretWord})`;
    for (const text of [JSON.stringify({ detail: { code: echo, message: echo, param: echo } }), echo, `{"x": "${echo}`]) {
      const service = await startHttpService((response) =>
        response.writeHead(status, { 'x-request-id': echo, location: `/${testKey}` }).end(text),
      );
      for (const call of calls) {
        const error = await failureOf(call(clientOf(service.baseUrl)));
        if (status === 200 && error === undefined) continue;
        expect(error).toBeInstanceOf(ServiceError);
        const leaks = [testKey, number, secretWord].filter((secret) => printed(error).includes(secret));
        expect(leaks).toEqual([]);
        if (error instanceof RefusedError) {
          expect(JSON.stringify(error.detail)).toContain(number);
          expect(JSON.stringify(error.detail)).not.toContain(testKey);
        }
      }
    }
  },
);

test('errors of the connection leak nothing, their causes included', async () => {
  const echo = `${testKey} ${number} ${secretWord}`;
  const addresses = [
    await deadBaseUrl(),
    (await startRawService((socket) => socket.resetAndDestroy())).baseUrl,
    (await startRawService((socket, received) => socket.end(`${received}${echo}`))).baseUrl,
    (await startRawService((socket) => socket.end(`HTTP/1.1 200 OK\r\n${echo}\r\n\r\n`))).baseUrl,
    (await startRawService((socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${echo}`))).baseUrl,
    (await startRawService(() => undefined)).baseUrl,
  ];
  for (const baseUrl of addresses) {
    for (const call of calls) {
      const error = await failureOf(call(clientOf(baseUrl, { timeouts: { headersMs: 60 } })));
      expect(error).toBeInstanceOf(ServiceError);
      expect([testKey, number, secretWord].filter((secret) => printed(error).includes(secret))).toEqual([]);
    }
  }
});

test('the client itself does not show its key', () => {
  expect(printed(clientOf('http://127.0.0.1:1'))).not.toContain(testKey);
});

test('the check finds a secret that is planted', () => {
  expect(printed(new Error('x', { cause: { deep: [{ key: testKey }] } }))).toContain(testKey);
});
