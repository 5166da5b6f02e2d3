import { capital } from '../../../shared/input/figures.ts';
import { describeFileError } from '../../../shared/input/errors.ts';
import { describeFullDisk } from '../../../ledger/ledger-error.ts';

export interface OutsideFault {
  code: 'database' | 'temporal' | 'network' | 'file' | 'machine';
  message: string;
}

/**
 * What to say about a fault of the world around this program that came up while it worked: the database, the disk, the network, Temporal.
 * Null for anything else, which is then a defect.
 */
export function describeOutsideFault(error: unknown): OutsideFault | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const full = describeFullDisk(code);
  if (full !== null) return { code: 'database', message: `The database cannot be used: ${full}. ${nothingHalf}` };
  if (code.startsWith('SQLITE_')) return { code: 'database', message: describeSqlite(code, error.message) };
  if ('severity' in error && 'routine' in error) {
    const message = `PostgreSQL refused a statement: ${error.message} (${code}). Check that this user may write there; running the same command again continues where it stopped.`;
    return { code: 'database', message };
  }
  if (error.name === 'ServiceError' || 'metadata' in error) {
    const message = `Temporal stopped answering (${error.message}). Nothing is lost: run the same command again when it is back.`;
    return { code: 'temporal', message };
  }
  if ('path' in error && 'syscall' in error && !networkCalls.has(String(error.syscall)))
    return { code: 'file', message: `${String(error.path)}: ${describeFileError(error)}.` };
  return describeSystemFault(error, code);
}

const networkCalls: ReadonlySet<string> = new Set(['connect', 'listen', 'getaddrinfo']);

const noWay = 'There is no way to HOST. Check the network of this machine, then run the command again';
const nothingHalf = 'Nothing was half-written.';

/** Faults that name no file; `HOST` stands for the address, where the system tells it. */
const networkFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'HOST is in use by another program. End that one, or choose another port',
  EADDRNOTAVAIL: 'HOST is no address of this machine. Choose another one',
  ENOTFOUND: 'The name HOST is not known. Check the address for typing errors, and that the name server knows it',
  EAI_AGAIN: 'The name HOST could not be looked up. Check the network of this machine, then run the command again',
  ENETUNREACH: noWay,
  EHOSTUNREACH: noWay,
  ENETDOWN: 'The network of this machine is down. Run the command again when it is up',
};

function describeSystemFault(error: Error, code: string): OutsideFault | null {
  const known = networkFaults[code];
  if (known !== undefined) return { code: 'network', message: `${known.replace('HOST', hostOf(error))}.` };
  if (/^(ENOSPC|EDQUOT|EFBIG|EROFS|EIO|EMFILE|ENFILE|ENOMEM|EAGAIN)$/.test(code)) {
    const words = describeFileError(error);
    return { code: 'machine', message: `${capital(words)}.` };
  }
  const isPort = 'syscall' in error && error.syscall === 'listen';
  if (isPort && (code === 'EACCES' || code === 'EPERM')) {
    const message = `${hostOf(error)} may not be listened on: permission denied. Choose a port above 1023.`;
    return { code: 'network', message };
  }
  if (error.message.startsWith('Connection terminated') || /^(ECONN|EPIPE|ETIMEDOUT)/.test(code)) {
    const where = hostOf(error) === unnamed ? '' : ` to ${hostOf(error)}`;
    const what = code === 'ECONNREFUSED' ? `Nobody answers at ${hostOf(error)}` : `A connection${where} broke`;
    return {
      code: 'network',
      message: `${what} while the command worked. Nothing is lost: run the same command again.`,
    };
  }
  return null;
}

const unnamed = 'an address';

function hostOf(error: Error): string {
  const facts = error as { address?: unknown; hostname?: unknown; port?: unknown };
  const host = facts.hostname ?? facts.address;
  if (typeof host !== 'string') return typeof facts.port === 'number' ? `port ${facts.port}` : unnamed;
  return typeof facts.port === 'number' ? `${host}:${facts.port}` : host;
}

/** By the beginnings of SQLite's codes. */
const sqliteFaults: Readonly<Record<string, string>> = {
  SQLITE_READONLY: 'it is read-only. Give yourself write access to the file and its folder, or set CARILLON_DB to another one',
  SQLITE_BUSY: 'another process holds it locked. Wait for that one or end it (a worker never holds it long), then run the command again',
  SQLITE_CORRUPT: 'it is damaged. Restore it from a backup',
  SQLITE_NOTADB: 'the file is no database. Set CARILLON_DB to the right one',
  SQLITE_IOERR: 'the disk does not work as it should. Check it, then run the command again',
  SQLITE_CANTOPEN: 'it cannot be opened. Check that its folder is there and who may use it, or set CARILLON_DB to another one',
};

function describeSqlite(code: string, message: string): string {
  const known = Object.entries(sqliteFaults).find(([begin]) => code.startsWith(begin))?.[1];
  return `The database cannot be used: ${known ?? `${message} (${code})`}. ${nothingHalf}`;
}
