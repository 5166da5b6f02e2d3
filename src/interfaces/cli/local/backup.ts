import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readConfig, requireDatabaseAddress } from '../../../shared/config.ts';
import { codeOf, describeFileError, OutputFileError, UsageError } from '../../../shared/input/errors.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { copySqliteLedger, type LedgerCopy } from '../../../ledger/backup.ts';
import { describeLocation } from '../../../ledger/open-ledger.ts';
import { syncFolder } from '../../../presentation/results/whole-file.ts';
import { requireSqliteFile } from '../../../operations/control/ledger.ts';
import { commandOf } from '../terminal/command.ts';

const examples = `
Copies the SQLite file of CARILLON_DB as it is at one instant. Workers and commands may go on meanwhile. The copy is opened and checked
(integrity_check, schema) before it gets its name; it is readable for its owner only. An existing file is never overwritten.

For PostgreSQL use pg_dump or a continuous archive. docs/operations.md describes both, and how to restore a backup: never put an older
database under a running campaign.

Examples:
  carillon backup carillon-backup.db
  carillon backup "backups/$(date -u +%Y-%m-%dT%H%M).db" --json`;

export const backupCommand = commandOf({
  name: 'backup',
  argument: ['<file>', 'where to write the copy'],
  help: examples,
  run: async (io, _flags, file) => {
    const config = readConfig(io.env);
    requireDatabaseAddress(config);
    if (config.DATABASE_URL !== undefined) throw postgresInstead(config.DATABASE_URL);
    requireSqliteFile(config);
    const copy = await writeCopy(config.CARILLON_DB, file);
    const { bytes, campaigns, schema } = copy;
    const words = `${file}: ${count(bytes)} bytes, ${plural(campaigns, 'campaign')}, schema ${schema}; checked.\n`;
    return { data: { file: resolve(file), ...copy }, words };
  },
});

function postgresInstead(databaseUrl: string): UsageError {
  const place = describeLocation({ databaseUrl, sqlitePath: '' });
  return new UsageError(
    `carillon backup copies a SQLite file, and the database is ${place}. A consistent copy: pg_dump --format=custom --file=carillon.dump "$DATABASE_URL". To lose nothing, archive its write-ahead log (docs/operations.md, "Backup and restore").`,
  );
}

/** Files that SQLite would treat as parts of the copy. */
const companions = ['', '-wal', '-shm', '-journal'];

/** Names the copy once it is complete, checked and on disk. Throws OutputFileError and StoreError. */
async function writeCopy(from: string, to: string): Promise<LedgerCopy> {
  const taken = companions.map((end) => `${to}${end}`).find((path) => existsSync(path));
  if (taken !== undefined) {
    const reason = 'this is there already and will not be overwritten; name another file';
    throw new OutputFileError(taken, reason, { isBadInput: true });
  }
  const temporary = join(dirname(to), `.${basename(to)}.${randomBytes(6).toString('hex')}.tmp`);
  // Reserves the name: a second backup to the same file is refused.
  await (await attempt(to, () => open(to, 'wx', 0o600))).close();
  try {
    const handle = await attempt(to, () => open(temporary, 'wx', 0o600));
    try {
      const copy = await attempt(to, async () => copySqliteLedger(from, temporary));
      await attempt(to, () => handle.sync());
      await attempt(to, () => rename(temporary, to));
      await syncFolder(dirname(to));
      return copy;
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(temporary, { force: true });
    await rm(to, { force: true });
    throw error;
  }
}

async function attempt<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error) ?? '';
    const isFull = code.startsWith('SQLITE_FULL');
    if (!isFull && !(error instanceof Error && 'syscall' in error)) throw error;
    const reason = isFull ? 'the disk is full; make room and run the command again' : folderWords(error, code);
    throw new OutputFileError(path, `the copy was not written: ${reason}`, { cause: error });
  }
}

function folderWords(error: unknown, code: string): string {
  return code === 'ENOENT' ? 'its folder does not exist; make that first' : describeFileError(error);
}
