import { codeOfName, describeFileError } from '../../../shared/input/errors.ts';
import { printableLines } from '../../../shared/input/printable.ts';
import { capital } from '../../../shared/input/figures.ts';
import { describeFullDisk } from '../../../ledger/ledger-error.ts';

export interface Failure {
  exitCode: number;
  /** For programs; docs/json.md lists all. Stays when the message is reworded. */
  code: string;
  /** Empty if everything has been printed already. */
  message: string;
}

/**
 * The only mapping of errors to exit codes: expected errors have `isBadInput` (2, else 1) or `exitCode`; wrong settings are 2; faults of
 * disk, database or network are 1; all else is a defect, with its stack only if `debug`.
 */
export function describeFailure(error: unknown, debug: boolean): Failure {
  const failure = classifyFailure(error, debug);
  // Ids, paths and names in it are untrusted.
  return { ...failure, message: printableLines(failure.message) };
}

function classifyFailure(error: unknown, debug: boolean): Failure {
  const stack = debug && error instanceof Error && error.stack !== undefined ? `\n${describeStack(error)}` : '';
  const foreseen = foreseenExitCode(error);
  if (foreseen !== null && error instanceof Error)
    return {
      exitCode: foreseen,
      code: (error as { problem?: { code: string } }).problem?.code ?? codeOfName(error.name),
      message: `${error.message}${hintFor(error)}${stack}`,
    };
  if (error instanceof Error && error.name === 'ConfigError') return { exitCode: 2, code: 'config', message: `${error.message}${stack}` };
  const outside = describeOutsideFault(error);
  if (outside !== null) return { exitCode: 1, code: outside.code, message: `${outside.message}${stack}` };
  const firstLine = (error instanceof Error ? error.message : String(error)).split('\n')[0];
  const hint = debug ? '' : ' CARILLON_LOG_LEVEL=debug shows where.';
  return {
    exitCode: 1,
    code: 'unexpected',
    message: `Carillon stopped on an error it did not expect: ${firstLine}.${hint}${stack}`,
  };
}

const hints: Readonly<Record<string, string>> = {
  CampaignConflictError: ' Rows of its list are changed with carillon update.',
  ScheduleExistsError: ' carillon schedule delete deletes it.',
  TemporalUnreachableError: ' carillon dev starts a server of its own.',
};

type Facts = { campaignId?: string };

/** By the `kind` of an error's `remedy`. */
const remedies: Readonly<Record<string, (facts: Facts) => string>> = {
  start_first: () => ' carillon start <campaign.yaml> imports the first one.',
  upgrade: () => ' carillon worker starts it.',
  fix_failure: ({ campaignId }) => ` Fix what carillon status ${campaignId} names; then carillon start with its file lets it continue.`,
  retry_rows: ({ campaignId }) =>
    ` carillon retry ${campaignId} --outcome … calls those again who were not reached; for new or corrected rows start a new campaign, under a new id.`,
  leave_unresolved: ({ campaignId }) =>
    ` carillon results ${campaignId} --outcome unresolved writes them to a list; carillon resolve ${campaignId} --give-up leaves them.`,
  recover: ({ campaignId }) => ` carillon recover ${campaignId}`,
  name_rows: () => ', --row.',
  await_end: ({ campaignId }) => ` carillon status ${campaignId} shows when.`,
};

/** For a service with a new address. */
export function moveCommand(accountId: string): string {
  return `carillon adjust --account --moved-from ${accountId}`;
}

/** A command that helps; lower layers do not know the CLI. */
function hintFor(error: Error): string {
  const { remedy, accountId = '' } = error as { remedy?: (Facts & { kind: string }) | null; accountId?: string };
  if (remedy != null) return remedies[remedy.kind]?.(remedy) ?? '';
  if (error.name === 'OtherServiceError' && accountId !== '') return ` ${moveCommand(accountId)} does so.`;
  const { isAboutRows = false, path } = error as { isAboutRows?: boolean; path?: string };
  const file = error.name === 'CampaignFileError' ? path : '<campaign.yaml>';
  return isAboutRows ? `\ncarillon check ${file} says more.` : (hints[error.name] ?? '');
}

function foreseenExitCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  const { exitCode, isBadInput } = error as { exitCode?: unknown; isBadInput?: unknown };
  if (typeof isBadInput === 'boolean') return isBadInput ? 2 : 1;
  return typeof exitCode === 'number' ? exitCode : null;
}

function describeStack(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\ncaused by ${describeStack(error.cause)}` : own;
}

interface OutsideFault {
  code: 'database' | 'temporal' | 'network' | 'file' | 'machine';
  message: string;
}

/** A fault of database, disk, network or Temporal at run time; null: a defect. */
function describeOutsideFault(error: unknown): OutsideFault | null {
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

/** Faults without a file name; `HOST` becomes the address, if known. */
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
    const what = code === 'ECONNREFUSED' ? `Nothing answers at ${hostOf(error)}` : `A connection${where} broke`;
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

/** By prefix of SQLite's codes. */
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
