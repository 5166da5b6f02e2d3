import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { createConvaiClient } from '../../../src/service/convai/client.ts';
import type { ConvaiClientOptions } from '../../../src/service/convai/connection.ts';
import { ServiceOptionsError, RateLimitedError } from '../../../src/service/port/errors.ts';
import { answerJson, changes, clientOf, placeOne, rejectionOf, startHttpService } from './loopback-servers.ts';

const agent = { agent_id: 'a' };

/** A client of a service that gives these answers in turn (the last one repeats), and the waits it asked for. */
async function talkTo(answers: ((response: ServerResponse) => void)[], options: Partial<ConvaiClientOptions> = {}) {
  const service = await startHttpService((response, _request, nth) => (answers[nth - 1] ?? answers.at(-1))?.(response));
  const waits: number[] = [];
  const sleep = async (ms: number) => waits.push(ms);
  return { service, waits, client: clientOf(service.baseUrl, { retriesAfter429: {}, sleep, ...options }) };
}

const limit = (retryAfter?: string) => (response: ServerResponse) =>
  answerJson(response, 429, {}, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
const done = (response: ServerResponse) => answerJson(response, 200, agent);

test('a read that a rate limit turned away is sent again after Retry-After, else after a wait that doubles', async () => {
  const { client, service, waits } = await talkTo([limit(), limit('7'), limit(), limit(), done], {
    retriesAfter429: { reads: 4 },
  });
  expect(await client.getAgent('a')).toMatchObject(agent);
  expect(waits).toEqual([1_000, 7_000, 4_000, 8_000]);
  expect(service.seen).toHaveLength(5);
});

test('two times is enough unless more is wanted, and the last 429 is what the caller gets', async () => {
  const { client, service, waits } = await talkTo([limit()]);
  await rejectionOf(client.getAgent('a'), RateLimitedError);
  expect(waits).toEqual([1_000, 2_000]);
  expect(service.seen).toHaveLength(3);
});

test('a wait of more than a minute is left to the caller, and none is none', async () => {
  const far = await talkTo([limit('61'), done]);
  expect((await rejectionOf(far.client.getAgent('a'), RateLimitedError)).retryAfterMs).toBe(61_000);
  const off = await talkTo([limit('1'), done], { retriesAfter429: { reads: 0 } });
  await rejectionOf(off.client.getAgent('a'), RateLimitedError);
  expect([far.service.seen.length, off.service.seen.length]).toEqual([1, 1]);
});

test.each(changes)('a %s is sent again where that is wanted, and not otherwise', async (_method, change) => {
  const usual = await talkTo([limit('1'), done]);
  await rejectionOf(change(usual.client), RateLimitedError);
  expect(usual.service.seen).toHaveLength(1);
  const wanted = await talkTo([limit('1'), done], { retriesAfter429: { changes: 1 } });
  await change(wanted.client);
  expect(wanted.waits).toEqual([1_000]);
  expect(wanted.service.seen).toHaveLength(2);
});

test('a batch of calls is never sent again', async () => {
  const { client, service, waits } = await talkTo([limit('1')], { retriesAfter429: { reads: 9, changes: 9 } });
  const error = await rejectionOf(placeOne(client), RateLimitedError);
  expect(error.knowledge).toBe('queued_nothing');
  expect(service.seen).toHaveLength(1);
  expect(waits).toEqual([]);
});

test('closing ends a wait: the read fails with the 429, and nothing more is sent', async () => {
  const service = await startHttpService((response) => limit('60')(response));
  let waiting: () => void = () => undefined;
  const waits = new Promise<void>((resolve) => (waiting = resolve));
  const client = clientOf(service.baseUrl, {
    retriesAfter429: {},
    sleep: (_ms, signal) => {
      waiting();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('closed'))));
    },
  });
  const reading = rejectionOf(client.getAgent('a'), RateLimitedError);
  await waits;
  await client.close();
  await reading;
  expect(service.seen).toHaveLength(1);
});

test.each([-1, 0.5, Number.NaN])('%s retries are not a number of retries', async (reads) => {
  expect(() => clientOf('http://127.0.0.1:1', { retriesAfter429: { reads } })).toThrow(
    new ServiceOptionsError(`retriesAfter429.reads is ${reads}; it must be a whole number from 0.`),
  );
});

test('the key is SVC_API_KEY where none is passed; one that is passed goes before it', async () => {
  const service = await startHttpService((response) => done(response));
  vi.stubEnv('SVC_API_KEY', 'sk_of_the_environment');
  for (const options of [{}, { apiKey: undefined }, { apiKey: 'sk_passed' }]) {
    const client = createConvaiClient({ baseUrl: service.baseUrl, ...options });
    await client.getAgent('a');
    await client.close();
  }
  const keys = service.seen.map(({ headers }) => headers['x-api-key']);
  expect(keys).toEqual(['sk_of_the_environment', 'sk_of_the_environment', 'sk_passed']);
});

test('without any key there is no client, and an empty one is none', () => {
  const create = (apiKey?: string) => createConvaiClient({ baseUrl: 'http://127.0.0.1:1', apiKey });
  vi.stubEnv('SVC_API_KEY', undefined);
  expect(() => create()).toThrow(new ServiceOptionsError('There is no API key. Pass apiKey, or set SVC_API_KEY in the environment.'));
  vi.stubEnv('SVC_API_KEY', 'sk_of_the_environment');
  expect(() => create('')).toThrow(/empty/);
});
