import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { commandNames, answersWithData, asTyped, ownCommand, speaking } from '../../../../src/interfaces/cli/terminal/own-command.ts';
import { commands } from '../../../../src/interfaces/cli/commands.ts';

const windows = false;

test.each([
  [{ script: '/code/carillon/dist/src/interfaces/cli/main.js', folder: '/code/carillon', root: '/code/carillon' }, './carillon'],
  [{ script: '/code/carillon/dist/src/interfaces/cli/main.js', folder: '/code/carillon/docs', root: '/code/carillon' }, '../carillon'],
  [{ script: '/app/node_modules/.bin/carillon', folder: '/app', root: null }, 'npx carillon'],
  [{ script: '/usr/local/bin/carillon', folder: '/app', root: null }, 'carillon'],
  [{ script: '/app/dist/src/interfaces/cli/main.js', folder: '/app', root: null }, 'carillon'],
])('called as %j, a person types %s', (input, own) => {
  expect(ownCommand({ ...input, windows })).toBe(own);
});

test.each([
  ['Go on: carillon resume spring', 'Go on: ./carillon resume spring'],
  ['Usage: carillon status [options]\n  carillon test-call x.yaml', 'Usage: ./carillon status [options]\n  ./carillon test-call x.yaml'],
  ['(carillon --help, or carillon <command> --help)', '(./carillon --help, or ./carillon <command> --help)'],
  ['The folder x of carillon is not there; carillon.db, postgres://host/carillon worker', null],
  ['the list of carillon status.csv', null],
])('%j is told as it has to be typed', (text, typed) => {
  expect(asTyped(text, './carillon')).toBe(typed ?? text);
  expect(asTyped(text, 'carillon')).toBe(text);
});

test('a stream for words is otherwise the stream that it was made of', async () => {
  const inner = new PassThrough();
  const words = speaking(inner, 'npx carillon');
  words.write('carillon status\n');
  words.end();
  expect((await inner.toArray()).join('')).toBe('npx carillon status\n');
});

test('what the service or a list says is not changed on its way out', () => {
  expect(answersWithData(['results', 'spring', '--output', '-'])).toBe(true);
  expect(answersWithData(['status', 'spring', '--json'])).toBe(true);
  expect(answersWithData(['pause', 'spring'])).toBe(false);
});

test('in a clone that was not built, or without node, the launcher says what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-launcher-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(fileURLToPath(new URL('../../../../carillon', import.meta.url)), join(folder, 'carillon'));
  const run = (PATH: string | undefined) =>
    spawnSync('/bin/sh', ['./carillon', 'status'], { cwd: folder, env: { PATH }, encoding: 'utf8' });
  expect(run(process.env['PATH'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/not built here yet.*npm ci/),
  });
  expect(run(folder)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/needs Node 20\.19 or newer, and there is no node/),
  });
});

test('hints name every command that there is', () => {
  expect(commands.map(({ name }) => name)).toEqual(commandNames);
});
