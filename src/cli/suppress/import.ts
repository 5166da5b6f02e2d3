import { basename } from 'node:path';
import { jsonText } from '../../input/json-text.ts';
import { readNumberList } from '../../list/number-list.ts';
import { RowIndex } from '../../list/row-index.ts';
import { importSuppressions } from '../../ledger/people/suppression-import.ts';
import type { Io } from '../terminal/io.ts';
import { openLedger, withLedger, type LedgerAccess } from '../../control/ledger.ts';
import { readServiceTime } from '../../control/service.ts';
import { count, plural } from '../../input/figures.ts';
import { RowProgress } from '../terminal/row-progress.ts';
import { readEntryFlags, type EntryFlags } from './flags.ts';

export interface ImportFlags extends EntryFlags {
  column?: string;
  delimiter?: string;
  json: boolean;
}

const mostShown = 10;

/** Streams a file into the do-not-call list. Exits with 1 when a line was no number: somebody on it would be called. */
export async function importNumbers(io: Io, path: string, flags: ImportFlags): Promise<void> {
  const progress = new RowProgress(io);
  const counts = { rows: 0, added: 0, known: 0, repeated: 0, bad: 0 };
  const lines = new RowIndex();
  const add = async ({ config, store }: LedgerAccess): Promise<void> => {
    const now = await readServiceTime(io, config);
    const entry = await readEntryFlags(flags, store, now);
    const { column = null, region = null, delimiter } = flags;
    async function* readParts(): AsyncGenerator<string[]> {
      for await (const rows of readNumberList({ path, delimiter, column, region })) {
        const numbers: string[] = [];
        for (const { line, e164, hint } of rows) {
          counts.rows += 1;
          if (e164 !== null) {
            if (lines.rowOf(Number(e164.slice(1)), counts.rows) !== null) counts.repeated += 1;
            else numbers.push(e164);
          } else {
            counts.bad += 1;
            if (counts.bad <= mostShown) io.stderr.write(`${path}:${line}: ${hint ?? 'no number'}\n`);
          }
        }
        yield numbers;
        progress.update(counts.rows);
      }
    }
    const terms = { ...entry, source: `import:${basename(path)}` };
    counts.added = await importSuppressions(store, readParts(), { terms, clock: { now, nowReal: io.now() } });
  };
  await withLedger(io, add, openLedger).finally(() => progress.clear());
  counts.known = counts.rows - counts.bad - counts.repeated - counts.added;
  if (counts.bad > 0) io.exitCode = 1;
  io.stdout.write(flags.json ? `${jsonText(counts)}\n` : tellCounts(counts));
}

function tellCounts({ added, known, repeated, bad }: Record<'added' | 'known' | 'repeated' | 'bad', number>): string {
  const unread =
    bad === 0
      ? ''
      : ` ${plural(bad, 'line is no number and protects', 'lines are no numbers and protect')} nobody: fix and import the file again.`;
  const again = repeated === 0 ? '' : `, ${plural(repeated, 'line repeats', 'lines repeat')} a number of the file`;
  return `${plural(added, 'number')} added, ${count(known)} stood there already${again}.${unread}\n`;
}
