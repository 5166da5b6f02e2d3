import { describeFileError } from '../campaign/errors.ts';

/**
 * What to say about a fault of the world around this program that came up while it worked: the database, the disk, Temporal. Null for
 * anything else, which is then a defect.
 */
export function describeOutsideFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code.startsWith('SQLITE_')) return describeSqlite(code, error.message);
  if ('severity' in error && 'routine' in error) {
    return `PostgreSQL refused a statement: ${error.message} (${code}). Check that this user may write there; running the same command again goes on where it stopped.`;
  }
  if (error.name === 'ServiceError' || 'metadata' in error) {
    return `Temporal stopped answering (${error.message}). Nothing is lost: run the same command again when it is back.`;
  }
  if (error.message.startsWith('Connection terminated') || /^(ECONN|EPIPE|ETIMEDOUT)/.test(code)) {
    return `A connection broke while the command worked (${code === '' ? error.message : code}). Nothing is lost: run the same command again.`;
  }
  if ('path' in error && 'syscall' in error) return `${String(error.path)}: ${describeFileError(error)}.`;
  return null;
}

const sqliteFaults: readonly (readonly [string, string])[] = [
  [
    'SQLITE_READONLY',
    'it is read-only. Give yourself write access to the file and its folder, or set CARILLON_DB to another one',
  ],
  [
    'SQLITE_BUSY',
    'another process holds it locked. Wait for that one or end it (a worker never holds it long), then run the command again',
  ],
  ['SQLITE_FULL', 'the disk is full. Make room and run the command again'],
  ['SQLITE_CORRUPT', 'it is damaged. Restore it from a backup'],
  ['SQLITE_NOTADB', 'the file is no database. Set CARILLON_DB to the right one'],
  ['SQLITE_IOERR', 'the disk does not work as it should. Check it, then run the command again'],
];

function describeSqlite(code: string, message: string): string {
  const known = sqliteFaults.find(([begin]) => code.startsWith(begin))?.[1];
  return `The database cannot be used: ${known ?? message} (${code}). Nothing was half-written.`;
}
