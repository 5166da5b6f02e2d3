import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';

/** A lock that is held by at most one process of this machine and ends with it, however it ends. */
export interface ProcessLock {
  release(): void;
}

/**
 * Takes the lock at `path`, or answers null when another process (or another holder in this one) has it. It is an open
 * exclusive transaction on an empty SQLite file: the kernel drops it with the process, so there are no stale locks to guess at.
 */
export function tryProcessLock(path: string): ProcessLock | null {
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
  return { release: () => database.close() };
}
