import type { ListLayout, ListRecord, ListDescription, TextLayout } from './format/record.ts';
import { readTextRecords, findDelimiter, readNote } from './format/text-records.ts';
import { workbooks } from './format/xlsx/workbook-reader.ts';
import { ListFileError } from '../shared/input/errors.ts';
import { findForeignLetters, chooseByCensus, takeCensus, toUtf8, type MarkedEncoding } from './format/text-encoding.ts';
import { bytesOf, openList, type OpenList } from './format/file.ts';

/**
 * Streams the records of a list in chunks of about `chunkSize`: what stands above the header first, then header and rows.
 * @throws ListFileError when the file cannot be read or has no certain rows.
 */
export function readListRecords(path: string, layout: ListLayout, chunkSize: number): AsyncGenerator<ListRecord[]> {
  return layout.kind === 'text' ? readTextRecords(path, layout, chunkSize) : workbooks.read(path, layout, chunkSize);
}

/** A list, and how it is said to be written. */
export interface ListChoice {
  path: string;
  /** Undefined: to be found. */
  delimiter?: string | undefined;
  /** Undefined: the first sheet of a workbook. */
  sheet?: string | undefined;
}

interface ListQuestion extends ListChoice {
  /** Whether more than numbers is read: then letters that would come out as others refuse the list. */
  lettersMatter: boolean;
  /** Whether these are the cells of a line that tells the right delimiter: the header, say. */
  isWanted: (cells: string[]) => boolean;
}

/** Enough for some lines of a list with very many columns. */
const lookedAtBytes = 64 * 1024;

const encodingNames = { 'utf-16le': 'UTF-16', 'utf-16be': 'UTF-16', 'windows-1252': 'Windows-1252' } as const;

/**
 * Finds out how a list is written. Header and titles above it are not looked for yet.
 * @throws ListFileError when it cannot be read, or not without a guess.
 */
export async function describeList(question: ListQuestion): Promise<ListDescription> {
  const list = await openList(question.path);
  try {
    if (list.kind.kind === 'archive') {
      return await workbooks.describe(question.path, question.sheet);
    }
    if (question.sheet !== undefined) {
      throw new ListFileError(question.path, 'this is no workbook and has no sheets; remove list.sheet from the campaign file');
    }
    return await describeText(question, list, list.kind.encoding);
  } finally {
    await list.handle.close();
  }
}

async function describeText(question: ListQuestion, list: OpenList, marked: MarkedEncoding | null): Promise<ListDescription> {
  const notes: string[] = [];
  if (list.zeros > 0) notes.push(`${String(list.zeros)} zero bytes at its end left out`);
  let encoding = marked;
  if (encoding === null) {
    const census = await takeCensus(() => bytesOf(list, 0));
    // A few odd cells in UTF-8 are refused row by row.
    if (question.lettersMatter && census !== null && census.other > census.utf8) await refuseForeignLetters(list, question.path);
    encoding = { encoding: census === null ? 'utf-8' : chooseByCensus(census), markBytes: 0 };
    if (encoding.encoding === 'windows-1252' && census !== null) {
      notes.push(`read as Windows-1252 (Latin-1), since it is not UTF-8: look at the letters of line ${String(census.firstLine)}`);
    }
  }
  if (encoding.encoding === 'utf-16le' || encoding.encoding === 'utf-16be') notes.push(`read as ${encodingNames[encoding.encoding]}`);
  const start = await firstText(list, encoding);
  const note = readNote(start);
  const delimiter = question.delimiter ?? note?.delimiter ?? findDelimiter(question.path, withoutNote(start), question.isWanted);
  if (question.delimiter === undefined && delimiter !== ',') {
    const name = delimiter === '\t' ? 'a tab' : JSON.stringify(delimiter);
    notes.push(`columns separated by ${name}${note?.delimiter == null ? '' : ', as its first line says'}`);
  }
  const layout: TextLayout = { kind: 'text', ...encoding, delimiter };
  return { layout: { ...layout, recordsAbove: note === null ? 0 : 1 }, notes };
}

async function refuseForeignLetters(list: OpenList, path: string): Promise<void> {
  const foreign = await findForeignLetters(bytesOf(list, 0));
  if (foreign === null) return;
  throw new ListFileError(
    path,
    `its letters are neither UTF-8 nor Windows-1252; the encoding is most likely ${foreign}. Save the list as "CSV UTF-8", or as an Excel workbook (.xlsx)`,
  );
}

async function firstText(list: OpenList, { encoding, markBytes }: MarkedEncoding): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of toUtf8(bytesOf(list, markBytes), encoding)) {
    pieces.push(piece);
    length += piece.length;
    if (length >= lookedAtBytes) break;
  }
  const text = Buffer.concat(pieces).toString('utf8');
  if (text.length <= lookedAtBytes) return text;
  // Half a line says nothing about how many cells lines have.
  const whole = text.slice(0, lookedAtBytes);
  return whole.slice(0, whole.lastIndexOf('\n') + 1) || whole;
}

function withoutNote(text: string): string {
  return readNote(text) === null ? text : text.replace(/^[^\r\n]*/, '');
}
