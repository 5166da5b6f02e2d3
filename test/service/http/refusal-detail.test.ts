import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRefusalDetail } from '../../../src/service/http/refusal-detail.ts';

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
    ['null', null, { code: null, message: null, fields: [] }],
    ['a null detail', { detail: null }, { code: null, message: null, fields: [] }],
  ],
)('reads %s', (_name, body, expected) => {
  expect(parseRefusalDetail(JSON.stringify(body), asIs)).toEqual(expected);
});

test('an HTML page is reduced to its words', () => {
  const html = '<html><head><style>p{}</style></head><body><h1>403</h1>\n<p>Forbidden</p></body></html>';
  expect(parseRefusalDetail(html, asIs)).toEqual({ code: null, message: '403 Forbidden', fields: [] });
});

test('an empty body says nothing', () => {
  expect(parseRefusalDetail('', asIs)).toEqual({ code: null, message: null, fields: [] });
});

test('a secret is removed from every part', () => {
  const redact = (text: string) => text.replaceAll('hush', '[redacted]');
  const body = { detail: [{ loc: ['header', 'hush'], msg: 'hush!', type: 'hush_error' }] };
  expect(JSON.stringify(parseRefusalDetail(JSON.stringify(body), redact))).not.toContain('hush');
});

test('a long message is cut', () => {
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
