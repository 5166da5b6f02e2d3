import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRefusalDetail } from '../../src/service/http/refusal-detail.ts';
import { parseHttpDate, parseRetryAfter } from '../../src/service/http/answer-errors.ts';
import { createTokenBucket } from '../../src/service/http/rate-limits.ts';

/** A clock that moves only when someone sleeps; sleepers wake in order of their time. */
function fakeClock() {
  let nowMs = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => nowMs,
    advance: (ms: number) => (nowMs += ms),
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
}

test('a burst starts at once, what follows is spaced by the rate', async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ perSecond: 10, burst: 3, ...clock });
  for (let n = 0; n < 6; n += 1) await bucket.take();
  expect(clock.slept).toEqual([100, 200, 300]);
});

test('a quiet time saves up one burst and no more', async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ perSecond: 10, burst: 2, ...clock });
  for (let n = 0; n < 2; n += 1) await bucket.take();
  clock.advance(60_000);
  for (let n = 0; n < 3; n += 1) await bucket.take();
  expect(clock.slept).toEqual([100]);
});

test('over any long time no more starts happen than rate × time + burst', async () => {
  const clock = fakeClock();
  const starts: number[] = [];
  const bucket = createTokenBucket({ perSecond: 20, burst: 5, ...clock });
  for (let n = 0; n < 200; n += 1) {
    const before = clock.slept.length;
    await bucket.take();
    starts.push(clock.now() + (clock.slept.length > before ? (clock.slept.at(-1) ?? 0) : 0));
    clock.advance((n * 7) % 60);
  }
  for (let from = 0; from < starts.length; from += 1) {
    for (let to = from; to < starts.length; to += 1) {
      const spanMs = (starts[to] ?? 0) - (starts[from] ?? 0);
      expect(to - from + 1).toBeLessThanOrEqual((spanMs * 20) / 1000 + 5 + 1e-6);
    }
  }
});

test('closing wakes those who wait, with an error', async () => {
  const bucket = createTokenBucket({ perSecond: 0.001, burst: 1 });
  await bucket.take();
  const waiting = bucket.take();
  bucket.close();
  await expect(waiting).rejects.toThrow();
  await expect(bucket.take()).rejects.toThrow();
});

const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
const dateMs = Date.UTC(1994, 10, 6, 8, 49, 37);

const later = 'Sun, 06 Nov 1994 08:50:07 GMT';

test.each<[value: string | null, date: string | null, now: number, wait: number | null]>([
  ['0', null, 0, 0],
  ['1', null, 0, 1000],
  [' 120 ', null, 0, 120_000],
  ['1.5', null, 0, 1500],
  // A day at most.
  ['86400', date, 0, 86_400_000],
  ['86401', date, 0, 86_400_000],
  // Not three centuries: an instant in epoch seconds.
  ['1900000000', date, 0, 86_400_000],
  ['Mon, 07 Nov 1994 08:49:37 GMT', date, 0, 86_400_000],
  ['Wed, 01 Jan 2031 00:00:00 GMT', date, 0, 86_400_000],
  // A date counts from the Date header of the same answer; from our clock where there is none that can be read.
  [later, date, Date.UTC(2030, 0, 1), 30_000],
  [later, null, dateMs, 30_000],
  [later, 'now', dateMs + 10_000, 20_000],
  [date, 'Sun, 06 Nov 1994 09:00:00 GMT', 0, 0],
  ...[null, '', 'soon', '-1', '1e3', '2 minutes', '12 s', 'NaN', '9'.repeat(11), 'Sun, 99 Nov 1994 08:49:37 GMT'].map(
    (value): [string | null, string, number, null] => [value, date, 0, null],
  ),
])('Retry-After %j in an answer of %j, read at %i, is a wait of %j ms', (value, answered, now, wait) => {
  expect(parseRetryAfter(value, answered, now)).toBe(wait);
});

test.each([date, 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])('all three forms of an HTTP date are read: %s', (value) => {
  expect(parseHttpDate(value)).toBe(dateMs);
});

const asIs = (text: string) => text;

test.each(
  // prettier-ignore
  [
    ['the documented object', { detail: { type: 'validation_error', code: 'invalid_parameters', message: 'Bad name.', status: 'x',
      param: 'name' } }, { code: 'invalid_parameters', message: 'Bad name.', fields: [{ path: 'name', message: 'Bad name.' }] }],
    ['the older object', { detail: { status: 'agent_not_found', message: 'No such agent.' } },
      { code: 'agent_not_found', message: 'No such agent.', fields: [] }],
    ['an array of fields', { detail: [{ loc: ['body', 'calls', 0, 'to_phone_number'], msg: 'not E.164', type: 'value_error' }] },
      { code: 'value_error', message: 'not E.164', fields: [{ path: 'body.calls.0.to_phone_number', message: 'not E.164' }] }],
    ['a string', { detail: 'Not found' }, { code: null, message: 'Not found', fields: [] }],
    ['an error object', { error: { code: 'nope', message: 'No.' } }, { code: 'nope', message: 'No.', fields: [] }],
    ['an object without detail', { message: 'No.' }, { code: null, message: 'No.', fields: [] }],
    ['a bare string', 'No.', { code: null, message: 'No.', fields: [] }],
    ['nothing', undefined, { code: null, message: null, fields: [] }],
    ['null', null, { code: null, message: null, fields: [] }],
    ['a null detail', { detail: null }, { code: null, message: null, fields: [] }],
  ],
)('reads %s', (_name, body, expected) => {
  expect(parseRefusalDetail(JSON.stringify(body) ?? '', asIs)).toEqual(expected);
});

test('a secret is removed from every part', () => {
  const redact = (text: string) => text.replaceAll('hush', '[redacted]');
  const body = { detail: [{ loc: ['header', 'hush'], msg: 'hush!', type: 'hush_error' }] };
  expect(JSON.stringify(parseRefusalDetail(JSON.stringify(body), redact))).not.toContain('hush');
});

test('a long message is cut, and a page reduced to its words', () => {
  const html = '<html><head><style>p{}</style></head><body><h1>403</h1>\n<p>Forbidden</p></body></html>';
  expect(parseRefusalDetail(html, asIs)).toEqual({ code: null, message: '403 Forbidden', fields: [] });
  expect(parseRefusalDetail(JSON.stringify({ detail: 'x'.repeat(9_000) }), asIs).message).toHaveLength(500);
});

test('no body makes it throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.anything().map((value) => JSON.stringify({ detail: value }) ?? ''),
      ),
      (body) => {
        const detail = parseRefusalDetail(body, asIs);
        expect(Array.isArray(detail.fields)).toBe(true);
      },
    ),
    { seed: 7, numRuns: 500 },
  );
});
