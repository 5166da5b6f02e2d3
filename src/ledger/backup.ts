import { statSync } from 'node:fs';
import { StoreError } from './ledger-error.ts';
import { isLedgerFile, notReadable } from './schema-state.ts';
import { openSqliteFile, readSqliteTables } from './sqlite-file.ts';

export interface LedgerCopy {
  bytes: number;
  campaigns: number;
  schema: string;
}

/**
 * Copies a SQLite ledger of any version, as of one instant, into the empty or missing file `to`, blocking no one. The copy is checked but
 * not yet synced to disk. Throws StoreError.
 */
export function copySqliteLedger(from: string, to: string): LedgerCopy {
  if (!isLedgerFile(from)) throw notReadable('empty');
  const source = openSqliteFile(from);
  try {
    source.prepare('vacuum into ?').run([to]);
  } finally {
    source.close();
  }
  return inspectCopy(to);
}

function inspectCopy(path: string): LedgerCopy {
  const { migrations } = readSqliteTables(path);
  // No second (journal) file beside the copy.
  const copy = openSqliteFile(path, { journal: 'delete' });
  try {
    const faults = copy.prepare('pragma integrity_check').all([]) as { integrity_check: string }[];
    if (faults[0]?.integrity_check !== 'ok') {
      throw new StoreError(
        `The copy is damaged (integrity_check: ${faults[0]?.integrity_check ?? 'no answer'}) and was removed. The database itself is probably damaged, too: check its disk, and restore the last good backup.`,
      );
    }
    const [row] = copy.prepare('select count(*) as campaigns from campaigns').all([]) as { campaigns: number }[];
    return { bytes: statSync(path).size, campaigns: row?.campaigns ?? 0, schema: migrations.at(-1) ?? 'unknown' };
  } finally {
    copy.close();
  }
}
