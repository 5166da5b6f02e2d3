import { expect, test } from 'vitest';
import { parseHookUrl } from '../../../src/shared/input/kept-url.ts';
import { readListSource } from '../../../src/list/source.ts';
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

function isTaken(use: () => unknown): boolean {
  try {
    return use() !== null;
  } catch {
    return false;
  }
}

test.each([
  ['127.0.0.1', true],
  ['127.9.8.7', true],
  ['127.1', true],
  ['2130706433', true],
  ['127.0.0.1.', true],
  ['LocalHost', true],
  ['localhost.', true],
  ['api.localhost', true],
  ['[::1]', true],
  ['[0:0:0:0:0:0:0:1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['[::ffff:127.9.8.7]', true],
  ['[::ffff:192.0.2.1]', false],
  ['[::]', false],
  ['[fe80::1]', false],
  ['0.0.0.0', false],
  ['10.0.0.1', false],
  ['128.0.0.1', false],
  ['notlocalhost', false],
  ['localhost.host.example', false],
  ['127.0.0.1.host.example', false],
  ['127.0.0.1@host.example', false],
  ['localhost:80@host.example', false],
  ['host.example/@127.0.0.1', false],
  ['host.example#@localhost', false],
])('plain http to %s is taken for service, list and hook alike: %s', (address, taken) => {
  const url = `http://${address}`;
  expect({
    service: isTaken(() => parseBaseUrl(url, false)),
    list: isTaken(() => readListSource(url)),
    hook: isTaken(() => parseHookUrl(url)),
  }).toEqual({ service: taken, list: taken, hook: taken });
});
