import { expect, test } from 'vitest';
import { parseHookUrl } from '../../../src/campaign/file/settings/hooks.ts';
import { parseBaseUrl } from '../../../src/service/port/address.ts';
import { readListSource } from '../../../src/list/source.ts';

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
