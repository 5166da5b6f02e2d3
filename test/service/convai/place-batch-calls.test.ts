import { expect, test } from 'vitest';
import type { BatchCallsRequest } from '../../../src/service/convai/schemas.ts';
import {
  BadResponseError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RequestInvalidError,
} from '../../../src/service/port/errors.ts';
import { answerJson, clientOf, deadBaseUrl, rejectionOf, startHttpService, startRawService, testKey } from './loopback-servers.ts';

const body: BatchCallsRequest = {
  agent_id: 'agent_1',
  from_phone_number_id: 'phnum_1',
  calls: [{ to_phone_number: '+12125550101' }],
};

const go = { requestId: 'batch-7/2', mayBegin: () => true };

test('a batch goes out with its request id, on a connection that is closed afterwards', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, { batch_id: 'b', calls_initiated: 1 }));
  const client = clientOf(service.baseUrl);
  await client.placeBatchCalls(body, go);
  await client.placeBatchCalls(body, { ...go, requestId: 'batch-7/3' });
  expect(service.connections()).toBe(2);
  expect(service.seen.map(({ headers }) => headers['x-request-id'])).toEqual(['batch-7/2', 'batch-7/3']);
  expect(service.seen[0]?.headers).toMatchObject({ connection: 'close', 'x-api-key': testKey });
});

test('the reply brings the clock of the service', async () => {
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  const service = await startHttpService((response) =>
    answerJson(response, 201, { batch_id: 'b', calls_initiated: 0, extra: 1 }, { date }),
  );
  let real = 10;
  const placed = await clientOf(service.baseUrl, { nowReal: () => (real += 5) }).placeBatchCalls(body, go);
  expect(placed).toEqual({
    batchId: 'b',
    callsInitiated: 0,
    serviceDate: { serverMs: Date.UTC(1994, 10, 6, 8, 49, 37), sentAtMs: 15, receivedAtMs: 20 },
  });
});

test('when the time to begin has passed the connection stands but not one byte is written', async () => {
  const service = await startRawService(() => undefined);
  let asked = 0;
  let sending = 0;
  const error = await rejectionOf(
    clientOf(service.baseUrl).placeBatchCalls(body, {
      requestId: 'b/1',
      mayBegin: () => {
        asked += 1;
        return false;
      },
      onSending: () => (sending += 1),
    }),
    NotSentError,
  );
  expect(error).toMatchObject({ reason: 'deadline_passed', knowledge: 'not_sent', requestId: 'b/1' });
  await service.closed(0);
  expect(service.received).toEqual(['']);
  expect({ asked, sending }).toEqual({ asked: 1, sending: 0 });
});

test('permission is asked only when the connection stands', async () => {
  let asked = 0;
  const options = { requestId: 'b/1', mayBegin: () => (asked += 1) > 0 };
  const error = await rejectionOf(clientOf(await deadBaseUrl()).placeBatchCalls(body, options), NotSentError);
  expect(error.reason).toBe('no_connection');
  expect(asked).toBe(0);
});

test('first the permission, then the notice, then the bytes', async () => {
  const order: string[] = [];
  const service = await startRawService((socket) => {
    order.push('received');
    socket.resetAndDestroy();
  });
  const options = {
    requestId: 'b/1',
    mayBegin: () => order.push('mayBegin') > 0,
    onSending: () => void order.push('onSending'),
  };
  await rejectionOf(clientOf(service.baseUrl).placeBatchCalls(body, options), OutcomeUnknownError);
  expect(order).toEqual(['mayBegin', 'onSending', 'received']);
});

test.each(['mayBegin', 'onSending'])('what %s throws comes out as it is, with nothing written', async (hook) => {
  const service = await startRawService(() => undefined);
  const fault = new TypeError('own fault');
  const options = {
    ...go,
    [hook]: () => {
      throw fault;
    },
  };
  await expect(clientOf(service.baseUrl).placeBatchCalls(body, options)).rejects.toBe(fault);
  await service.closed(0);
  expect(service.received).toEqual(['']);
});

test.each<[string, unknown, RegExp]>(
  // prettier-ignore
  [
    ['no calls', { ...body, calls: [] }, /calls/],
    ['a request id that a header cannot carry', { ...body, requestId: 'a\r\nb' }, /./],
    ['a number that is not E.164', { ...body, calls: [{ to_phone_number: '212 555 0101' }] }, /calls\[0\]\.to_phone_number/],
    ['no agent', { ...body, agent_id: '' }, /agent_id/],
    ['an unknown key', { ...body, priority: 1 }, /priority/],
    ['a key of a call that carries no variables', { ...body, calls: [{ to_phone_number: '+12125550101', note: 'x' }] }, /note/],
    ['a variable that is an object', { ...body, calls: [{ to_phone_number: '+12125550101', variables: { a: {} } }] }, /variables/],
  ],
)('a batch with %s is refused before anything is sent, without naming values', async (_name, invalid, problem) => {
  const service = await startHttpService((response) => answerJson(response, 200, {}));
  const { requestId = go.requestId, ...request } = invalid as BatchCallsRequest & { requestId?: string };
  const call = clientOf(service.baseUrl).placeBatchCalls(request, { ...go, requestId });
  const error = await rejectionOf(call, RequestInvalidError);
  expect(error.message).toMatch(problem);
  expect(error.message).not.toMatch(/555/);
  expect(service.connections()).toBe(0);
});

test('variables may travel under any key', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, { batch_id: 'b', calls_initiated: 1 }));
  const calls = [{ to_phone_number: '+12125550101', dynamic_variables: { ref: 'r-1', visits: 2, member: false } }];
  await clientOf(service.baseUrl).placeBatchCalls({ ...body, calls }, go);
  expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual({ ...body, calls });
});

test.each<[string, unknown]>([
  ['no batch_id', { calls_initiated: 1 }],
  ['an empty batch_id', { batch_id: '', calls_initiated: 1 }],
  ['no calls_initiated', { batch_id: 'b' }],
  ['a calls_initiated that is no count', { batch_id: 'b', calls_initiated: -1 }],
  ['a calls_initiated in words', { batch_id: 'b', calls_initiated: '1' }],
])('a 2xx with %s leaves the outcome unknown', async (_name, answer) => {
  const service = await startHttpService((response) => answerJson(response, 200, answer));
  const error = await rejectionOf(clientOf(service.baseUrl).placeBatchCalls(body, go), BadResponseError);
  expect(error).toMatchObject({ knowledge: 'unknown', requestId: 'batch-7/2' });
  expect(service.seen).toHaveLength(1);
});

test.each([{ batch_id: 'batch_9', calls_initiated: 1 }, { detail: { code: 'rate_limit_exceeded', batch_id: 'batch_9' } }])(
  'a 429 that names a batch does not claim that nothing was queued: %j',
  async (answer) => {
    const service = await startHttpService((response) => answerJson(response, 429, answer));
    const error = await rejectionOf(clientOf(service.baseUrl).placeBatchCalls(body, go), RateLimitedError);
    expect(error).toMatchObject({ batchId: 'batch_9', knowledge: 'unknown' });
  },
);

test.each([
  [429, '{"calls_initiated": 3}'],
  [429, '{"batch_id": "b", "calls'],
  [429, '{"batch_id": 17}'],
  [400, '{"batch_id": "b"}'],
  [422, '{"detail": {"calls_initiated": 1}}'],
])('status %i with the body %s shows traces of calls: the outcome is unknown', async (status, text) => {
  const service = await startHttpService((response) => response.writeHead(status).end(text));
  const error = await rejectionOf(clientOf(service.baseUrl).placeBatchCalls(body, go), OutcomeUnknownError);
  expect(error).toMatchObject({ status, phase: 'answered', requestId: 'batch-7/2' });
});

test('a large batch arrives whole', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, { batch_id: 'b', calls_initiated: 1000 }));
  const calls = Array.from({ length: 1000 }, (_, n) => ({
    to_phone_number: `+1212555${String(100 + (n % 100)).padStart(4, '0')}`,
    conversation_config_override: { agent: { first_message: 'ü'.repeat(500) + n } },
  }));
  await clientOf(service.baseUrl).placeBatchCalls({ ...body, calls }, go);
  expect(JSON.parse(service.seen[0]?.body ?? '').calls).toEqual(calls);
});
