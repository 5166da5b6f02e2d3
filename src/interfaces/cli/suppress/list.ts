import { jsonText } from '../../../shared/input/printable.ts';
import { listSuppressions, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { withInstants } from '../../../shared/input/times.ts';
import type { Io } from '../terminal/io.ts';
import { withControl } from '../../../operations/control/control.ts';
import { readServiceTime } from '../../../operations/control/service.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';
import { UsageError } from '../../../shared/input/errors.ts';

export interface ListFlags {
  campaign?: string;
  limit: string;
  all: boolean;
  json: boolean;
}

const pageSize = 1000;

/** `carillon suppress list`, a page at a time whatever the length of the list. */
export async function listEntries(io: Io, { campaign, limit, all, json }: ListFlags): Promise<void> {
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError(`--limit is ${JSON.stringify(limit)}; write a whole number from 1.`);
  const most = all ? Infinity : Number(limit);
  await withControl(io, async (control) => {
    const now = await readServiceTime(control);
    let shown = 0;
    let after: StoredSuppression | null = null;
    for (;;) {
      // One more than is shown tells whether there is more.
      const page = await listSuppressions(control.store.db, {
        scope: campaign ?? null,
        after,
        limit: Math.min(pageSize, most - shown + 1),
      });
      const entries = page.slice(0, most - shown);
      if (json) io.stdout.write(entries.map((entry) => `${jsonText(withInstants(entry))}\n`).join(''));
      else if (entries.length > 0) {
        const table = renderEntries(io, entries, now);
        io.stdout.write(shown === 0 ? table : table.slice(table.indexOf('\n') + 1));
      }
      shown += entries.length;
      if (page.length > entries.length) io.stderr.write(`There are more; see them with --all or a higher --limit.\n`);
      after = entries.at(-1) ?? null;
      if (page.length < pageSize || shown >= most || after === null) break;
    }
    if (shown === 0 && !json) io.stderr.write('The do-not-call list is empty.\n');
  });
}

/** A table for people. */
export function renderEntries(io: Pick<Io, 'stdout' | 'isTerminal'>, entries: readonly StoredSuppression[], now: number): string {
  const until = ({ expiresAt }: StoredSuppression): string => {
    if (expiresAt === null) return 'for ever';
    return `${expiresAt > now ? 'until' : 'was until'} ${new Date(expiresAt).toISOString().slice(0, 16)}Z`;
  };
  return renderTable<StoredSuppression>(
    [
      { title: 'NUMBER', value: ({ e164 }) => e164 },
      { title: 'SCOPE', value: ({ scope }) => scope },
      { title: 'HOLDS', value: until },
      { title: 'SINCE', value: ({ createdAt }) => `${new Date(createdAt).toISOString().slice(0, 16)}Z` },
      { title: 'SOURCE', value: ({ source }) => source, flexible: true },
      { title: 'REASON', value: ({ reason }) => reason ?? '', flexible: true },
    ],
    entries,
    terminalWidth(io),
  );
}
