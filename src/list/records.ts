import { unwrapped, type ListLayout, type ListRecord, type ListDescription, type TextLayout } from './format/record.ts';
import { readTextRecords, findDelimiter, readNote } from './format/text-records.ts';
import { workbooks } from './format/xlsx/workbook-reader.ts';
import { ListEncodingError, ListFileError } from '../shared/input/errors.ts';
import { likelyReadings, looksWestern, readByteStats, toUtf8, type MarkedEncoding } from './format/text-encoding.ts';
import { bytesOf, openList, type OpenList } from './format/file.ts';

/** Streams the records of a list from its start, in chunks of about `chunkSize`. Throws ListFileError, also when rows are uncertain. */
export async function* readListRecords(path: string, layout: ListLayout, chunkSize: number): AsyncGenerator<ListRecord[]> {
  const chunks = layout.kind === 'text' ? readTextRecords(path, layout, chunkSize) : workbooks.read(path, layout, chunkSize);
  for await (const records of chunks) {
    for (const { cells } of records) cells.forEach((cell, at) => (cells[at] = unwrapped(cell)));
    yield records;
  }
}

/** Encoding of a text that is neither UTF-8 nor UTF-16. */
export interface EncodingChoice {
  /** As returned by `readEncoding`. Undefined: see `unnamed`. */
  encoding?: string | undefined;
  /**
   * Without `encoding`. Undefined: the text is refused with its likely readings. `western`: Windows-1252 if its letters fit, for campaigns
   * begun before encodings were named. `any`: UTF-8, else the named encoding or Windows-1252.
   */
  unnamed?: 'western' | 'any' | undefined;
}

export interface ListChoice extends EncodingChoice {
  path: string;
  /** Undefined: detected. */
  delimiter?: string | undefined;
  /** Undefined: the first visible sheet of a workbook. */
  sheet?: string | undefined;
}

interface ListQuestion extends ListChoice {
  /** True for the cells of a line that proves the delimiter, such as the header. */
  isWanted: (cells: string[]) => boolean;
}

/** Enough for some lines of a list with very many columns. */
const sampleBytes = 64 * 1024;

/** Detects how a list is written, but not its header. Throws ListFileError when it is unreadable or ambiguous. */
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
  const encoding = marked ?? { encoding: await chooseEncoding(question, list, notes), markBytes: 0 };
  if (encoding.encoding.startsWith('utf-16')) notes.push('read as UTF-16');
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

/** Encoding of a text without a mark. Mostly valid UTF-8 stays UTF-8 with odd cells refused: another reading would corrupt good names. */
async function chooseEncoding({ path, encoding, unnamed }: ListQuestion, list: OpenList, notes: string[]): Promise<string> {
  const open = () => bytesOf(list, 0);
  const { utf8, other, firstLine } = await readByteStats(open);
  const isUtf8 = other <= utf8;
  if (encoding === 'utf-8' || (encoding === undefined && isUtf8)) return 'utf-8';
  if (encoding !== undefined) {
    if (utf8 === 0 && other === 0) return encoding;
    if (unnamed === 'any') return isUtf8 ? 'utf-8' : encoding;
    const readings = await likelyReadings(open(), isUtf8 ? ['utf-8', encoding] : [encoding]);
    if (isUtf8) throw new ListEncodingError(path, readings.slice(0, 2), encoding);
    notes.push(`read as ${encoding}: ${readings[0]?.words.join(', ') ?? ''}`);
    return encoding;
  }
  if (unnamed === 'any') return other > utf8 * 20 ? 'windows-1252' : 'utf-8';
  const readings = await likelyReadings(open());
  if (unnamed === undefined || !looksWestern(readings)) throw new ListEncodingError(path, readings);
  if (other <= utf8 * 20) return 'utf-8';
  notes.push(`read as Windows-1252 (Latin-1), since it is not UTF-8: look at the letters of line ${String(firstLine)}`);
  return 'windows-1252';
}

async function firstText(list: OpenList, { encoding, markBytes }: MarkedEncoding): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of toUtf8(bytesOf(list, markBytes), encoding)) {
    pieces.push(piece);
    length += piece.length;
    if (length >= sampleBytes) break;
  }
  const text = Buffer.concat(pieces).toString('utf8');
  if (text.length <= sampleBytes) return text;
  // A cut line would give a wrong cell count.
  const whole = text.slice(0, sampleBytes);
  return whole.slice(0, whole.lastIndexOf('\n') + 1) || whole;
}

function withoutNote(text: string): string {
  return readNote(text) === null ? text : text.replace(/^[^\r\n]*/, '');
}
