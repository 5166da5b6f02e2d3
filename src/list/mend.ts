import { open } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { findHeader } from './header.ts';
import { readListRecords, type ListChoice } from './records.ts';

const rowsPerChunk = 1000;

/** New cell contents, by row from 1 and by column index. */
export type CellFixes = ReadonlyMap<number, ReadonlyMap<number, string>>;

/**
 * Writes a list as UTF-8 CSV with some cells replaced and nothing above the header; other damaged rows stay refused. Returns the number of
 * changed cells. Throws ListFileError.
 */
export async function writeFixedList(list: ListChoice & { columns: readonly string[] }, fixes: CellFixes, target: string): Promise<number> {
  const { path, columns } = list;
  const names = columns.filter((column) => column.trim() !== '');
  const { layout } = await findHeader({ ...list, names, defaultRegion: null });
  const file = await open(target, 'w', 0o600);
  let changed = 0;
  try {
    for await (const records of readListRecords(path, layout, rowsPerChunk)) {
      const rows = records.flatMap(({ row, cells, damage, isLast }) => {
        if (row < 0) return [];
        const fixed = fixes.get(row);
        const missing = Array<string>(Math.max(0, columns.length - cells.length)).fill('');
        const fault = damage?.hint ?? (isLast === true && missing.length > 0 ? 'the file was cut off here' : null);
        // An extra cell keeps a damaged row refused.
        if (fixed === undefined) return [fault === null ? cells : [...cells, ...missing, fault]];
        return [
          [...cells, ...missing].map((cell, at) => {
            const fixedCell = fixed.get(at) ?? cell;
            if (fixedCell !== cell) changed += 1;
            return fixedCell;
          }),
        ];
      });
      await file.writeFile(stringify(rows, { quoted_empty: columns.length === 1 }));
    }
  } finally {
    await file.close();
  }
  return changed;
}
