import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventStreamReader } from '../../../src/sandbox/llm/event-stream.ts';
import { completionsAddress, requireAllowed, showAddress, redactSecrets } from '../../../src/sandbox/llm/outbound.ts';

const run = { seed: 20_261_121, numRuns: 500 };

test('events are read the same wherever the pieces are cut and whichever line ends are used', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((value) => value.replaceAll(/[\r\n\uFEFF]/gu, ''));
  const event = fc.record({
    name: fc.constantFrom('', 'ping', 'error'),
    lines: fc.array(text, { minLength: 1, maxLength: 3 }),
    comment: fc.boolean(),
  });
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 6 }),
      lineEnd,
      fc.boolean(),
      fc.array(fc.nat(200), { maxLength: 30 }),
      (events, end, bom, cuts) => {
        const sent = events.map(({ name, lines, comment }) =>
          [
            ...(comment ? [': a comment'] : []),
            ...(name === '' ? [] : [`event: ${name}`]),
            ...lines.map((line) => `data: ${line}`),
            '',
            '',
          ].join(end),
        );
        const whole = `${bom ? '\uFEFF' : ''}${sent.join('')}`;
        const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((left, right) => left - right), whole.length];
        const reader = new EventStreamReader();
        const read = places.slice(1).flatMap((place, index) => reader.push(whole.slice(places[index], place)));
        const wanted = events.map(({ name, lines }) => ({
          event: name === '' ? 'message' : name,
          data: lines.join('\n'),
        }));
        expect([...read, ...reader.end()]).toEqual(wanted);
      },
    ),
    run,
  );
});

test('what was not closed by an empty line is read when the stream ends', () => {
  const reader = new EventStreamReader();
  expect(reader.push('data: one\n\ndata: two\ndata: three')).toEqual([{ event: 'message', data: 'one' }]);
  expect(reader.end()).toEqual([{ event: 'message', data: 'two\nthree' }]);
  expect(reader.end()).toEqual([]);
});

test('a line that is no field of an event stream is an error, not silence', () => {
  expect(() => new EventStreamReader().push('{"choices":[]}\n')).toThrow('no field of an event');
  expect(new EventStreamReader().push('retry: 10\nid: 4\ndata\n\n')).toEqual([{ event: 'message', data: '' }]);
});

test('the path is appended exactly once, whatever stands before it', () => {
  const segment = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  fc.assert(
    fc.property(
      fc.array(segment, { maxLength: 3 }),
      fc.constantFrom('', '/', '//'),
      fc.constantFrom('', '?a=1&b=2'),
      (path, end, query) => {
        const base = `http://127.0.0.1:8080${path.map((part) => `/${part}`).join('')}`;
        const once = completionsAddress(base + end + query);
        expect(once).toBe(`${base}/chat/completions${query}`);
        expect(completionsAddress(once)).toBe(once);
      },
    ),
    run,
  );
});

const outbound = { hosts: ['models.example:9000', 'other.example'], ownPort: 4_010 };

test.each([
  'http://127.0.0.1:1/v1',
  'http://localhost/v1',
  'https://[::1]:8443/',
  'http://127.9.9.9/',
  'http://2130706433/',
  'http://models.example:9000/v1',
  'https://other.example/',
])('%s may be connected to', (url) => {
  expect(() => requireAllowed(url, outbound)).not.toThrow();
});

test.each([
  'http://models.example:9001/v1',
  'http://127.0.0.1:4010/v1',
  'http://LOCALHOST:4010/',
  'http://localhost.example/',
  'http://127.0.0.1.example/',
  'http://0.0.0.0/',
  'http://[::]/',
  'http://[::ffff:10.0.0.1]/',
  'http://10.0.0.1/',
  'http://169.254.169.254/latest',
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'http://user:word@127.0.0.1/',
  'nonsense',
  '',
])('"%s" may not be connected to', (url) => {
  expect(() => requireAllowed(url, outbound)).toThrow();
});

test('an address is shown without the values of its query', () => {
  expect(showAddress('http://u:p@127.0.0.1:80/v1?key=abc&key=def&x=1')).toBe('http://127.0.0.1/v1?key=[redacted]&x=[redacted]');
  expect(showAddress('nonsense')).toBe('[unreadable]');
});

test('credentials are taken out of what a model says, with their scheme and without; short values are no credentials', () => {
  const headers = { authorization: 'Bearer abcdefgh12345', 'x-team': 'red' };
  expect(redactSecrets('abcdefgh12345 Bearer abcdefgh12345 red', headers)).toBe('[redacted] [redacted] red');
});
