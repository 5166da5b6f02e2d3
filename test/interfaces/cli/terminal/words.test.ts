import { expect, test, onTestFinished } from 'vitest';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { renderTable, type Column } from '../../../../src/interfaces/cli/terminal/table.ts';
import { commandNames, answersWithData, asTyped, ownCommand, speaking } from '../../../../src/interfaces/cli/terminal/own-command.ts';
import { commands } from '../../../../src/interfaces/cli/commands.ts';

type Item = { id: string; name: string; note: string };

const columns: readonly Column<Item>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'NOTE', value: ({ note }) => note, flexible: true },
];

const items = [
  { id: 'agent_1', name: 'Reminders of appointments', note: 'short' },
  { id: 'agent_22', name: 'Survey', note: 'a longer note than fits' },
];

test('columns are as wide as they must be, and lines end without blanks', () => {
  expect(renderTable(columns, items, null)).toBe(
    [
      'ID        NAME                       NOTE',
      'agent_1   Reminders of appointments  short',
      'agent_22  Survey                     a longer note than fits',
      '',
    ].join('\n'),
  );
});

test('on a narrow terminal the widest words are cut first, evenly, and ids stay whole', () => {
  expect(renderTable(columns, items, 36)).toBe(
    ['ID        NAME          NOTE', 'agent_1   Reminders o…  short', 'agent_22  Survey        a longer no…', ''].join('\n'),
  );
});

test.each([1, 5, 20, 24, 40, 80])('no line is wider than %i columns', (width) => {
  for (const line of renderTable(columns, items, width).split('\n')) expect(line.length).toBeLessThanOrEqual(width);
});

test('wide characters count twice, so that columns stay below each other', () => {
  const rows = [
    { id: 'a', name: '日本', note: 'x' },
    { id: 'b', name: 'abcd', note: 'y' },
    { id: 'c', name: '👍🏽ab', note: 'z' },
  ];
  expect(renderTable(columns, rows, null)).toBe('ID  NAME  NOTE\na   日本  x\nb   abcd  y\nc   👍🏽ab  z\n');
});

test('text that would move the cursor or turn the direction is made harmless', () => {
  const rows = [{ id: 'a', name: 'red \u001b[31m\nline', note: '\u202eabc' }];
  expect(renderTable(columns, rows, null)).toBe(
    'ID  NAME           NOTE\na   red  [31m line  abc\n'.replace('NAME           ', 'NAME            '),
  );
});

test('no items: the heading alone', () => {
  expect(renderTable(columns, [], 80)).toBe('ID  NAME  NOTE\n');
});

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
