import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withoutSignature } from '../../../src/ledger/doubt/conversations.ts';
import { openSqliteFile } from '../../../src/ledger/sqlite-file.ts';
import { createLedger } from './campaign-ledger.ts';
import { until } from './campaign-world.ts';
import { program } from '../../support/worker-process.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Files below a folder that others than the owner may access. */
function opened(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)
    .toSorted();
}

test('ledger, WAL, lock and Temporal data are not 0644, whatever mask the person has', async () => {
  const folder = makeFolder();
  const command = `umask 0; exec "$0" "${program}" dev --port 0 --temporal-port 0 --json`;
  const child = spawn('/bin/sh', ['-c', command, process.execPath], {
    env: { ...process.env, CARILLON_DB: join(folder, 'carillon.db'), XDG_STATE_HOME: join(folder, 'state') },
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until(() => said.includes('\n'));
  expect(JSON.parse(said)).toMatchObject({ ready: true });
  const names = readdirSync(folder, { recursive: true }) as string[];
  expect(names).toEqual(expect.arrayContaining(['carillon.db', 'carillon.db-wal', 'carillon.db.lock', 'state/carillon/temporal.db']));
  expect(opened(folder)).toEqual([]);
  child.kill('SIGTERM');
  await ended;
});

test('results and the folder of transcripts are for their owner alone', async () => {
  const ledger = await createLedger();
  chmodSync(ledger.folder, 0o755);
  expect(await ledger.run('results', 'spring', '--output', ledger.path('out.csv'))).toMatchObject({ code: 0 });
  expect(opened(ledger.folder)).toEqual([]);
});

test.each([
  { before: 0o644, after: 0o600 },
  { before: 0o666, after: 0o660 },
  { before: 0o660, after: 0o660 },
])('a ledger of an earlier version loses what others may do with it: $before', ({ before, after }) => {
  const path = join(makeFolder(), 'carillon.db');
  openSqliteFile(path).close();
  chmodSync(path, before);
  const file = openSqliteFile(path);
  expect(statSync(path).mode & 0o777).toBe(after);
  file.close();
});

test.each([
  ['https://audio.example.com/a.mp3?signature=planted#x', 'https://audio.example.com/a.mp3'],
  ['https://planted:planted@audio.example.com/a.mp3', 'https://audio.example.com/a.mp3'],
  [null, null],
])('the signature of a recording is not kept: %s', (told, kept) => {
  expect(withoutSignature(told)).toBe(kept);
});
