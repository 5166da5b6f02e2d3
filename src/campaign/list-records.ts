import { readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { CsvError, parse, type InfoRecord, type Parser } from 'csv-parse';
import { describeFileError, ListFileError } from './errors.ts';
import { recogniseOtherKind } from './list-sniff.ts';

/** One record of a list as it stands in the file. */
export interface ListRecord {
  /** 0 for the header, then data rows from 1; blank lines are no records. */
  row: number;
  /** Line on which the record begins, from 1. */
  line: number;
  cells: string[];
  /** What makes the cells unfit for use, and in which of them; null when nothing does. */
  damage: { index: number; hint: string } | null;
}

/** Longest cell, in characters: what spreadsheets hold. A row with a longer one is kept and refused. */
export const longestCell = 32_767;

/** Longest record, in characters. Beyond it an unclosed quote would read the rest of the file into memory. */
const longestRecord = 1_000_000;
const sniffedBytes = 4096;
const readBytes = 256 * 1024;
const recordDelimiters = ['\r\n', '\n', '\r'];

/**
 * Streams the records of a list, header first, in chunks of at most `chunkSize`.
 *
 * Quotes inside an unquoted cell are text. A quoted cell that goes on after its closing quote is damage when it stays on
 * its line; when it spans lines, rows may have been swallowed, and the file is refused, as for a quote never closed.
 * @throws ListFileError when the file cannot be read, is something else than CSV, or has no certain rows.
 */
export async function* readListRecords(
  path: string,
  delimiter: string,
  chunkSize: number,
): AsyncGenerator<ListRecord[]> {
  const handle = await openList(path);
  const position = new RecordPosition(path, handle.fd);
  let records: ListRecord[] = [];
  const parser = parse({
    bom: true,
    delimiter,
    // One kind of line end would be fixed by the first line, and a file that mixes them would fail far below.
    record_delimiter: recordDelimiters,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: longestRecord,
    on_record: (cells, info) => {
      records.push(position.take(cells, info));
      // Nothing is handed on, so no record takes the way through an object stream.
      return null;
    },
  });
  // A failed write rejects below; without a listener the same error would end the process.
  parser.on('error', () => {});
  try {
    const source = handle.createReadStream({ autoClose: false, start: 0, highWaterMark: readBytes });
    for await (const bytes of source as AsyncIterable<Buffer>) {
      await write(parser, bytes);
      while (records.length >= chunkSize) {
        yield records.slice(0, chunkSize);
        records = records.slice(chunkSize);
      }
    }
    await end(parser);
    if (records.length > 0) yield records;
  } catch (error) {
    throw position.explain(error, parser);
  } finally {
    parser.destroy();
    await handle.close();
  }
}

function write(parser: Parser, bytes: Buffer): Promise<void> {
  return new Promise((done, fail) => {
    parser.write(bytes, (error) => (error ? fail(error) : done()));
  });
}

function end(parser: Parser): Promise<void> {
  return new Promise((done, fail) => {
    parser.end((error?: Error | null) => (error ? fail(error) : done()));
  });
}

async function openList(path: string): Promise<FileHandle> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(path, 'r');
    const found = await handle.stat();
    if (found.isDirectory()) throw new ListFileError(path, 'this is a folder; name the CSV file inside it');
    if (!found.isFile()) throw new ListFileError(path, 'this is not a regular file; save the list to disk first');
    const head = Buffer.alloc(sniffedBytes);
    const { bytesRead } = await handle.read(head, 0, sniffedBytes, 0);
    const kind = recogniseOtherKind(head.subarray(0, bytesRead));
    if (kind !== null) {
      throw new ListFileError(path, `this is ${kind}, not a CSV list; export it as "CSV UTF-8" and name that file`);
    }
    return handle;
  } catch (error) {
    await handle?.close();
    if (error instanceof ListFileError) throw error;
    throw new ListFileError(path, describeFileError(error), { cause: error });
  }
}

/** Counts rows and lines as the parser emits records; the parser's own line numbers count CRLF in quotes twice. */
class RecordPosition {
  readonly #path: string;
  readonly #fd: number;
  #row = 0;
  #linesBefore = 0;
  #bytesBefore = 0;

  constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  take(cells: string[], info: InfoRecord): ListRecord {
    const record: ListRecord = { row: this.#row, line: this.#line(info.empty_lines), cells, damage: null };
    for (let index = 0; index < cells.length; index++) {
      const hint = this.#inspect(cells[index] ?? '', record.line, info.bytes);
      if (hint !== null) record.damage ??= { index, hint };
    }
    this.#row += 1;
    this.#linesBefore += 1;
    this.#bytesBefore = info.bytes;
    return record;
  }

  explain(error: unknown, parser: Parser): unknown {
    if (error instanceof ListFileError) return error;
    if (!(error instanceof CsvError)) {
      const isFromSystem = error instanceof Error && 'syscall' in error;
      return isFromSystem ? new ListFileError(this.#path, describeFileError(error), { cause: error }) : error;
    }
    const place = this.#place(this.#line(parser.info.empty_lines));
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
      return this.#refuse(
        `${place} opens a quote (") that is never closed; close it, or double the quote if it is text`,
        error,
      );
    }
    if (error.code === 'CSV_MAX_RECORD_SIZE') {
      const size = `more than ${String(longestRecord)} characters`;
      return this.#refuse(`${place} runs on for ${size}; most likely it opens a quote (") that is never closed`, error);
    }
    return this.#refuse(`${place} cannot be read as CSV (${error.code})`, error);
  }

  #inspect(cell: string, line: number, endByte: number): string | null {
    // eslint-disable-next-line no-control-regex
    if (cell.length <= longestCell && !/[\0\n\r"\uFFFD]/.test(cell)) return null;
    const breaks = cell.match(/\r\n|\n|\r/g)?.length ?? 0;
    this.#linesBefore += breaks;
    if (cell.startsWith('"') && !this.#isProperlyQuoted(cell, endByte)) {
      if (breaks > 0) {
        throw this.#refuse(
          `${this.#place(line)} opens a quote (") that is not closed where its cell ends; close it, or double the quote if it is text`,
        );
      }
      return 'text follows a closing quote ("); double the quotes that are text';
    }
    if (cell.length > longestCell)
      return `${String(cell.length)} characters are more than the ${String(longestCell)} a cell may have`;
    if (cell.includes('\0')) return 'the cell holds a NUL byte; remove it';
    if (cell.includes('\uFFFD')) return 'the cell is not UTF-8 text; save the list as "CSV UTF-8"';
    return null;
  }

  /** A cell that begins with a quote was written with doubled quotes, or its closing quote was followed by more text. */
  #isProperlyQuoted(cell: string, endByte: number): boolean {
    const bytes = Buffer.alloc(endByte - this.#bytesBefore);
    readSync(this.#fd, bytes, 0, bytes.length, this.#bytesBefore);
    return bytes.toString('utf8').includes(`"${cell.replaceAll('"', '""')}"`);
  }

  #line(emptyLines: number): number {
    return this.#linesBefore + emptyLines + 1;
  }

  #place(line: number): string {
    return this.#row === 0 ? `the header (line ${String(line)})` : `row ${String(this.#row)} (line ${String(line)})`;
  }

  #refuse(message: string, cause?: unknown): ListFileError {
    return new ListFileError(this.#path, message, { cause });
  }
}
