import { expect, test } from 'vitest';
import { BadResponseError, NotSentError, OutcomeUnknownError } from '../../../src/service/port/errors.ts';
import { readServiceClock } from '../../../src/service/convai/read-clock.ts';
import { answerJson, deadBaseUrl, rejectionOf, startHttpService, startRawService } from './loopback-servers.ts';

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

test('nothing listening is NotSentError', async () => {
  const error = await rejectionOf(readServiceClock(await deadBaseUrl(), 20_000), NotSentError);
  expect(error.reason).toBe('no_connection');
});

test('a service that does not answer is an error, not real time', async () => {
  const service = await startRawService(() => undefined);
  await rejectionOf(readServiceClock(service.baseUrl, 400), OutcomeUnknownError);
});
