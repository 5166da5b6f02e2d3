import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import { StoreError } from '../../src/ledger/ledger-error.ts';
import { lockSqliteFile } from '../../src/ledger/worker-lock.ts';
import { lockInAnotherProcess } from './other-process.ts';
import { test } from './ledger-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function databasePath(): string {
  return join(temporaryFolder(), 'carillon.db');
}

test('a second worker process on one SQLite file is refused in a clear sentence', async () => {
  const path = databasePath();
  const first = await lockInAnotherProcess(path);
  expect(first.said).toBe('locked');
  const second = await lockInAnotherProcess(path);
  expect(second.said).toContain(`Another worker is already running on ${path}.`);
  expect(second.said).toContain('DATABASE_URL');
});

test('the lock dies with its process, also by kill -9', async () => {
  const path = databasePath();
  const first = await lockInAnotherProcess(path);
  expect(first.said).toBe('locked');
  expect(() => lockSqliteFile(path)).toThrow(StoreError);
  await first.kill();
  const next = lockSqliteFile(path);
  next.release();
});

test('a released lock can be taken again, and other files are not concerned', () => {
  const path = databasePath();
  const held = lockSqliteFile(path);
  lockSqliteFile(databasePath()).release();
  expect(() => lockSqliteFile(path)).toThrow('Another worker');
  held.release();
  lockSqliteFile(path).release();
});

test('a lock whose holder keeps nothing of it is not collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const path = databasePath();
  lockSqliteFile(path);
  for (let turn = 0; turn < 5; turn += 1) {
    await nextTurn();
    collect();
  }
  expect(() => lockSqliteFile(path)).toThrow('Another worker');
});

test('a lock file that cannot be written is named', () => {
  const path = join(databasePath(), 'nowhere', 'carillon.db');
  expect(() => lockSqliteFile(path)).toThrow(`The lock file ${path}.lock cannot be used`);
});
