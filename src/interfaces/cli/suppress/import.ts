import { withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { importDoNotCall, type ImportCounts } from '../../../operations/control/suppress.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { jsonText } from '../../../shared/input/printable.ts';
import type { Io } from '../terminal/io.ts';
import { RowProgress } from '../terminal/row-progress.ts';
import { readTerms, type EntryFlags } from './flags.ts';

export interface ImportFlags extends EntryFlags {
  column?: string;
  delimiter?: string;
  json: boolean;
}

const mostShown = 10;

/** Streams a file into the do-not-call list. Exits with 1 when a line was no number: somebody on it would be called. */
export async function importNumbers(io: Io, path: string, flags: ImportFlags): Promise<void> {
  const progress = new RowProgress(io);
  const { delimiter, column, region } = flags;
  let bad = 0;
  const onBad = (line: number, hint: string): void => {
    bad += 1;
    if (bad <= mostShown) io.stderr.write(`${path}:${line}: ${hint}\n`);
  };
  const onProgress = (rows: number): void => progress.update(rows);
  const file = { path, delimiter, column, region, onBad, onProgress };
  const counts = await withControl(
    io,
    async (control) => importDoNotCall(control, file, await readTerms(flags, control)),
    openLedger,
  ).finally(() => progress.clear());
  if (counts.bad > 0) io.exitCode = 1;
  io.stdout.write(flags.json ? `${jsonText(counts)}\n` : tellCounts(counts));
}

function tellCounts({ added, known, repeated, bad }: ImportCounts): string {
  const unread =
    bad === 0
      ? ''
      : ` ${plural(bad, 'line is no number and protects', 'lines are no numbers and protect')} nobody: fix and import the file again.`;
  const again = repeated === 0 ? '' : `, ${plural(repeated, 'line repeats', 'lines repeat')} a number of the file`;
  return `${plural(added, 'number')} added, ${count(known)} stood there already${again}.${unread}\n`;
}
