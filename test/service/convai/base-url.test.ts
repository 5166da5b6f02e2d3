import { expect, test } from 'vitest';
import { parseBaseUrl } from '../../../src/service/port/address.ts';
import { ServiceOptionsError } from '../../../src/service/port/errors.ts';

test.each([
  ['https://service.example', 'https://service.example', ''],
  ['https://service.example/', 'https://service.example', ''],
  ['https://service.example:8443/a/b/', 'https://service.example:8443', '/a/b'],
  ['http://127.0.0.1:4010', 'http://127.0.0.1:4010', ''],
  ['http://127.9.9.9', 'http://127.9.9.9', ''],
  ['http://localhost:1/x', 'http://localhost:1', '/x'],
  ['http://api.localhost', 'http://api.localhost', ''],
  ['http://[::1]:4010', 'http://[::1]:4010', ''],
])('%s is accepted', (value, origin, prefix) => {
  expect(parseBaseUrl(value, false)).toEqual({ origin, prefix });
});

test.each([
  ['not a url', /not a URL/],
  ['ftp://127.0.0.1', /must begin with https/],
  ['http://service.example', /unencrypted/],
  ['http://127.0.0.1.service.example', /unencrypted/],
  ['http://localhost.service.example', /unencrypted/],
  ['https://service.example?key=1', /query/],
  ['https://service.example#x', /fragment/],
])('%s is refused with what to do', (value, message) => {
  expect(() => parseBaseUrl(value, false)).toThrow(message);
  expect(() => parseBaseUrl(value, false)).toThrow(ServiceOptionsError);
});

test('credentials in the address are refused without being named', () => {
  expect(() => parseBaseUrl('https://me:hunter2@service.example', false)).toThrow(/user name or password/);
  expect(() => parseBaseUrl('https://me:hunter2@service.example', false)).not.toThrow(/hunter2/);
});

test('plain http to another host passes when it is allowed', () => {
  expect(parseBaseUrl('http://sandbox:4010', true)).toEqual({ origin: 'http://sandbox:4010', prefix: '' });
});
