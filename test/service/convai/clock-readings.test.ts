import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readServiceClock } from '../../../src/service/convai/read-clock.ts';
import { BadResponseError, NotSentError, OutcomeUnknownError, RateLimitedError, RefusedError } from '../../../src/service/port/errors.ts';
import { answerJson, clientOf, deadBaseUrl, placeOne, rejectionOf, startHttpService, startRawService } from './loopback-servers.ts';

const first = 'Sun, 06 Nov 1994 08:49:37 GMT';
const second = 'Sun, 06 Nov 1994 08:49:39 GMT';

test('every answer with a Date is a reading of the clock, refusals included; one from a cache is none', async () => {
  const answers = [
    { status: 200, headers: { date: first } },
    { status: 422, headers: { date: second } },
    { status: 200, headers: { date: first, age: '40' } },
  ];
  const service = await startHttpService((response, _request, nth) => {
    const { status, headers } = answers[nth - 1] ?? { status: 200, headers: { date: first } };
    answerJson(response, status, { conversations: [] }, headers);
  });
  let now = 1_000;
  const client = clientOf(service.baseUrl, { monotonicMs: () => (now += 5) });
  expect(client.clockReadings()).toMatchObject({ last: null, answeredMsAgo: Infinity, connectionFailed: false });
  await client.listConversationsPage();
  const reading = client.clockReadings();
  expect(reading.last).toMatchObject({ serverMs: Date.parse(first), tripMs: 5 });
  now += 60_000;
  expect(client.clockReadings().ageMs - reading.ageMs).toBe(60_005);
  const refusal = await rejectionOf(client.listConversationsPage(), RefusedError);
  expect(refusal.serviceMs).toBe(Date.parse(second));
  expect(client.clockReadings().last?.serverMs).toBe(Date.parse(second));
  expect((await client.listConversationsPage()).serviceDate).toBeNull();
  expect(client.clockReadings()).toMatchObject({ last: { serverMs: Date.parse(second) }, answeredMsAgo: 5 });
});

test('a 429 to a batch tells the time at which it was made', async () => {
  const service = await startHttpService((response) => answerJson(response, 429, {}, { date: first }));
  expect((await rejectionOf(placeOne(clientOf(service.baseUrl)), RateLimitedError)).serviceMs).toBe(Date.parse(first));
});

test('after a failed connection the clock is unknown until the service itself has answered', async () => {
  let mode: 'up' | 'cut' | 'proxy' = 'up';
  const service = await startHttpService((response) => {
    if (mode === 'cut') response.destroy();
    else answerJson(response, mode === 'up' ? 200 : 502, { conversations: [] }, { date: mode === 'up' ? first : second });
  });
  const client = clientOf(service.baseUrl);
  await client.listConversationsPage();
  mode = 'cut';
  await client.listConversationsPage().catch(() => {});
  expect(client.clockReadings()).toMatchObject({ last: { serverMs: Date.parse(first) }, connectionFailed: true });
  // Something in front of the service says that it is down, and tells its own time.
  mode = 'proxy';
  await client.listConversationsPage().catch(() => {});
  expect(client.clockReadings()).toMatchObject({ last: { serverMs: Date.parse(first) }, connectionFailed: true });
  mode = 'up';
  await client.listConversationsPage();
  expect(client.clockReadings()).toMatchObject({ last: { serverMs: Date.parse(first) }, connectionFailed: false });
});

test('a service that tells no time after a failed connection leaves none from before it', async () => {
  let headers: Record<string, string> = { date: first };
  let cut = false;
  const service = await startHttpService((response) => {
    response.sendDate = false;
    if (cut) response.destroy();
    else answerJson(response, 200, { conversations: [] }, headers);
  });
  const client = clientOf(service.baseUrl);
  await client.listConversationsPage();
  cut = true;
  expect(await placeOne(client).catch((error: unknown) => error)).not.toBeInstanceOf(NotSentError);
  expect(client.clockReadings().connectionFailed).toBe(true);
  cut = false;
  headers = {};
  await client.listConversationsPage();
  expect(client.clockReadings()).toMatchObject({ last: null, connectionFailed: false });
});

const health = {
  sandbox: true,
  version: '0.1.0',
  dialect: 'extended',
  clock: { speed: 120, anchorRealMs: 1_000_000, anchorServiceMs: 50_000_000 },
};

test('a sandbox tells its clock, and is asked without a key', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, health, { 'x-sandbox': '1' }));
  let real = 1_000_000;
  const clock = await readServiceClock(`${service.baseUrl}/`, 20_000, () => real);
  expect(clock).toMatchObject({ speed: 120, sandbox: true, dialect: 'extended' });
  expect(clock.now()).toBe(50_000_000);
  real += 1_000;
  expect(clock.now()).toBe(50_120_000);
  expect(clock.toRealMs(120_000)).toBe(1_000);
  expect(clock.atReal(50_120_000)).toBe(1_001_000);
  expect(service.seen).toHaveLength(1);
  expect(service.seen[0]?.url).toBe('/_sandbox/health');
  expect(service.seen[0]?.headers).not.toHaveProperty('x-api-key');
});

test.each([
  ['a 404', 404, { detail: 'Not Found' }],
  ['a refusal', 401, { detail: 'Missing key' }],
  ['a redirect', 302, undefined],
  ['an error', 503, { detail: 'down' }],
  ['something else', 200, { ok: true }],
  ['the shape of a sandbox without its header', 200, health],
])('after %s time is real', async (_name, status, body) => {
  const service = await startHttpService((response) => answerJson(response, status, body));
  const clock = await readServiceClock(service.baseUrl, 20_000, () => 777);
  expect(clock).toMatchObject({ speed: 1, sandbox: false, dialect: null });
  expect(clock.now()).toBe(777);
  expect(clock.toRealMs(5)).toBe(5);
  expect(clock.atReal(900)).toBe(900);
});

test('a sandbox that does not tell its clock is an error, not real time', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, { sandbox: true }, { 'x-sandbox': '1' }));
  await rejectionOf(readServiceClock(service.baseUrl, 20_000), BadResponseError);
});

test.each([
  ['compressed without being asked', { 'content-encoding': 'gzip' }, gzipSync(JSON.stringify(health))],
  ['with a byte order mark', {}, Buffer.from(`\ufeff${JSON.stringify(health)}`)],
])('a sandbox behind a proxy that sends answers %s tells its clock', async (_name, headers, body) => {
  const service = await startHttpService((response) => response.writeHead(200, { 'x-sandbox': '1', ...headers }).end(body));
  expect(await readServiceClock(service.baseUrl, 20_000)).toMatchObject({ speed: 120, sandbox: true });
});

test.each([
  ['its compression', { 'content-encoding': 'gzip' }, /cannot be unpacked \(content-encoding: gzip\)/],
  ['an encoding that is not known', { 'content-encoding': 'zstd' }, /content-encoding: zstd/],
  ['its JSON', {}, /whose answer is not JSON/],
])('a sandbox whose answer cannot be read is an error that names %s', async (_name, headers, named) => {
  const service = await startHttpService((response) => response.writeHead(200, { 'x-sandbox': '1', ...headers }).end('{"sandbox":'));
  expect((await rejectionOf(readServiceClock(service.baseUrl, 20_000), BadResponseError)).message).toMatch(named);
});

test('what a proxy compressed unasked is read: records, a refusal and an accepted batch; a bomb is not', async () => {
  const answers = [
    [200, '{"conversations":[{"conversation_id":"c1"}]}'],
    [422, '{"detail":{"code":"bad_number"}}'],
    [429, '{"batch_id":"b1"}'],
    [200, ' '.repeat(17 * 1024 * 1024)],
  ] as const;
  const service = await startHttpService((response, _request, nth) => {
    const [status, text] = answers[nth - 1] ?? [500, ''];
    response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync(text));
  });
  const client = clientOf(service.baseUrl);
  expect((await client.listConversationsPage()).conversations[0]?.conversation_id).toBe('c1');
  expect((await rejectionOf(placeOne(client), RefusedError)).detail.code).toBe('bad_number');
  expect(await rejectionOf(placeOne(client), RateLimitedError)).toMatchObject({ batchId: 'b1', knowledge: 'unknown' });
  expect(await rejectionOf(placeOne(client), BadResponseError)).toMatchObject({ knowledge: 'unknown' });
});

test('nothing listening is NotSentError', async () => {
  const error = await rejectionOf(readServiceClock(await deadBaseUrl(), 20_000), NotSentError);
  expect(error.reason).toBe('no_connection');
});

test('a service that does not answer is an error, not real time', async () => {
  const service = await startRawService(() => undefined);
  await rejectionOf(readServiceClock(service.baseUrl, 400), OutcomeUnknownError);
});
