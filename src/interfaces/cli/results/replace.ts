import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { OutputFileError } from '../../../shared/input/errors.ts';
import { resultsHeaderStart } from '../../../presentation/results/columns.ts';
import { type ResultsFormat, resultsSheet } from '../../../presentation/results/file.ts';
import { refuseToOverwrite } from '../../../presentation/results/whole-file.ts';
import { byteOrderMark, guardListCell } from '../../../presentation/results/text.ts';
import { workbooks } from '../../../list/format/xlsx/workbook-reader.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';

/**
 * Refuses to replace anything but earlier results of the campaign in the same format: the database does not know where the list
 * stands. Throws OutputFileError.
 */
export async function refuseOtherFile(path: string, campaign: Campaign, format: ResultsFormat): Promise<void> {
  await refuseToOverwrite(path, []);
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size === 0 || (await holdsResults(path, campaign.rules.list.columns, format))) return;
  throw new OutputFileError(
    path,
    `this file holds something else than results of ${campaign.campaignId} as ${format}, perhaps its list, and will not be overwritten; name another file`,
    { isBadInput: true },
  );
}

async function holdsResults(path: string, columns: readonly string[], format: ResultsFormat): Promise<boolean> {
  const header = resultsHeaderStart(columns);
  switch (format) {
    case 'csv': {
      const begins = [header, header.map(guardListCell)].map((cells) => stringify([cells]).trimEnd());
      const longest = Math.max(...begins.map((begin) => Buffer.byteLength(begin)));
      const found = (await readBegin(path, Buffer.byteLength(byteOrderMark) + longest)).replace(byteOrderMark, '');
      return begins.some((begin) => found.startsWith(begin));
    }
    case 'jsonl':
      return /^\{"row":\d+,"cells":[[{]/.test(await readBegin(path, 64));
    case 'xlsx':
      return startsLike(await readFirstCells(path), header);
  }
}

function startsLike(cells: readonly string[], header: readonly string[]): boolean {
  return header.every((name, index) => cells[index] === name);
}

/** The first bytes of a file as text; empty when it cannot be read, which writing will tell. */
async function readBegin(path: string, bytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path, { end: bytes - 1 })) chunks.push(chunk as Buffer);
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The first line of the sheet that results stand in; empty for any other file. */
async function readFirstCells(path: string): Promise<string[]> {
  try {
    const layout = { kind: 'sheet', sheet: resultsSheet, width: 0, recordsAbove: 0 } as const;
    for await (const records of workbooks.read(path, layout, 1)) return records[0]?.cells ?? [];
  } catch {
    return [];
  }
  return [];
}
