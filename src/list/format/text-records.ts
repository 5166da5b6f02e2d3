import { CsvError, parse, type InfoRecord, type Parser } from 'csv-parse';
import { describeFileError, ListFileError } from '../../shared/input/errors.ts';
import { bytesOf, openList } from './file.ts';
import {
  type ListLayout,
  type TextLayout,
  fullChunk,
  longestCell,
  longestRecord,
  mostColumns,
  placeOf,
  unwrapped,
  type ListRecord,
} from './record.ts';
import { toUtf8 } from './text-encoding.ts';
import { parse as parseSync } from 'csv-parse/sync';

const recordDelimiters = ['\r\n', '\n', '\r'];

/**
 * Streams the records of a CSV file in chunks of at most `chunkSize`.
 *
 * Quotes inside an unquoted cell are text. Text after a closing quote is damage within one line; across lines, rows may have been swallowed
 * and the file is refused, as for a quote never closed. Throws ListFileError when the file is unreadable, not CSV, or has no certain rows.
 */
export async function* readTextRecords(
  path: string,
  layout: TextLayout & Pick<ListLayout, 'recordsAbove'>,
  chunkSize: number,
): AsyncGenerator<ListRecord[]> {
  const list = await openList(path);
  const position = new RecordPosition(path, layout.encoding, layout.recordsAbove);
  let records: ListRecord[] = [];
  let gathered = 0;
  const parser = parse({
    delimiter: layout.delimiter,
    // Autodetection would fix the first line's kind, and a file with mixed line ends would fail far below.
    record_delimiter: recordDelimiters,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: longestRecord,
    on_record: (cells, info) => {
      records.push(position.take(cells, info));
      // Returning null keeps the record out of the slower object stream.
      return null;
    },
  });
  // A failed write rejects below; without a listener the same error would end the process.
  parser.on('error', () => {});
  try {
    for await (const bytes of toUtf8(bytesOf(list, layout.markBytes), layout.encoding)) {
      position.append(bytes);
      await write(parser, bytes);
      gathered += bytes.length;
      while (records.length >= chunkSize || (records.length > 0 && gathered >= fullChunk.characters)) {
        yield records.slice(0, chunkSize);
        records = records.slice(chunkSize);
        gathered = 0;
      }
    }
    await end(parser);
    const last = records.at(-1);
    if (last !== undefined && !position.endsWithBreak) last.isLast = true;
    if (records.length > 0) yield records;
  } catch (error) {
    // Yields the earlier records: they include the header, from which rows are counted.
    if (records.length > 0) yield records;
    throw position.explain(error, parser);
  } finally {
    parser.destroy();
    await list.handle.close();
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

/** Counts rows and lines as the parser emits records; the parser's own line numbers count CRLF in quotes twice. */
class RecordPosition {
  /** Bytes fed to the parser since the last record end, and their offset. */
  #recent = { bytes: Buffer.alloc(0), from: 0 };
  readonly #path: string;
  readonly #suspicious: RegExp;
  #row: number;
  #linesBefore = 0;
  #bytesBefore = 0;

  constructor(path: string, encoding: string, recordsAbove: number) {
    this.#path = path;
    // 0x80 to 0x9F are printable in most one-byte encodings; a control character left there after decoding is invalid.
    // eslint-disable-next-line no-control-regex
    this.#suspicious = !encoding.startsWith('utf-') ? /[\n\r"\uFFFD\x80-\x9f]/ : /[\n\r"\uFFFD]/;
    this.#row = -recordsAbove;
  }

  get endsWithBreak(): boolean {
    return [0x0a, 0x0d].includes(this.#recent.bytes.at(-1) ?? 0x0a);
  }

  append(bytes: Buffer): void {
    const rest = this.#recent.bytes.subarray(this.#bytesBefore - this.#recent.from);
    this.#recent = { bytes: Buffer.concat([rest, bytes]), from: this.#bytesBefore };
  }

  take(cells: string[], info: InfoRecord): ListRecord {
    const record: ListRecord = { row: this.#row, line: this.#line(info.empty_lines), cells, damage: null };
    for (let index = 0; index < cells.length; index++) {
      const hint = this.#inspect(cells[index] ?? '', record.line, info.bytes);
      if (hint !== null) record.damage ??= { index, hint };
    }
    if (cells.length > mostColumns) {
      const hint = `${String(cells.length)} cells are more than the ${String(mostColumns)} a row may have`;
      record.cells = cells.slice(0, mostColumns);
      record.damage = { index: mostColumns, hint };
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
      return this.#refuse(`${place} opens a quote (") that is never closed; close it, or double the quote if it is text`, error);
    }
    if (error.code === 'CSV_MAX_RECORD_SIZE') {
      const size = `more than ${String(longestRecord)} characters`;
      return this.#refuse(`${place} runs on for ${size}; most likely it opens a quote (") that is never closed`, error);
    }
    return this.#refuse(`${place} cannot be read as CSV (${error.code})`, error);
  }

  #inspect(cell: string, line: number, endByte: number): string | null {
    if (cell.length <= longestCell && !this.#suspicious.test(cell)) return null;
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
    if (cell.length > longestCell) return `${String(cell.length)} characters are more than the ${String(longestCell)} a cell may have`;
    // A suspicious character other than a line break or quote.
    // eslint-disable-next-line no-control-regex
    if (/[\uFFFD\x80-\x9f]/.test(cell) && this.#suspicious.test(cell.replace(/[\n\r"]/g, ''))) {
      return 'the cell holds bytes that are no text in the encoding of the file; save the list as "CSV UTF-8"';
    }
    return null;
  }

  /** True when the cell was written with doubled quotes; false when text followed its closing quote. */
  #isProperlyQuoted(cell: string, endByte: number): boolean {
    const { bytes, from } = this.#recent;
    const written = bytes.subarray(this.#bytesBefore - from, endByte - from);
    return written.toString('utf8').includes(`"${cell.replaceAll('"', '""')}"`);
  }

  #line(emptyLines: number): number {
    return this.#linesBefore + emptyLines + 1;
  }

  #place(line: number): string {
    return placeOf({ row: this.#row, line });
  }

  #refuse(message: string, cause?: unknown): ListFileError {
    return new ListFileError(this.#path, message, { cause });
  }
}

const candidates = [',', ';', '\t', '|'] as const;
/** Lines to search; the header must be among them. */
export const linesAboveRows = 50;

interface Trial {
  delimiter: string;
  /** Cells of the header-like line, else of the longest. */
  width: number;
  fits: boolean;
  /** True when most lines, at least two, have that many cells. */
  steady: boolean;
}

/** Delimiter from a `sep=;` first line. Null: no such line; `delimiter` null: it names none. */
export function readNote(text: string): { delimiter: string | null } | null {
  const note = /^"?sep=([^"\r\n]?)[^\r\n]*(?:[\r\n]|$)/i.exec(text);
  return note === null ? null : { delimiter: note[1] || null };
}

/**
 * Finds the delimiter under which one line satisfies `isWanted`; if none or several qualify, the one with equally long lines. Throws
 * ListFileError when ambiguous.
 */
export function findDelimiter(path: string, text: string, isWanted: (cells: string[]) => boolean): string {
  const trials = candidates.map((delimiter) => tryDelimiter(text, delimiter, isWanted));
  const wide = trials.filter(({ width }) => width > 1);
  const fitting = wide.filter(({ fits }) => fits);
  const steady = (fitting.length > 0 ? fitting : wide).filter((trial) => trial.steady);
  const choices = fitting.length === 1 ? fitting : steady.length > 0 ? steady : fitting.length > 0 ? fitting : wide;
  // Same result under each.
  const [only] = trials.some(({ fits }) => fits) && fitting.length === 0 ? [] : choices;
  if (only === undefined) return ',';
  if (choices.length === 1) return only.delimiter;
  const seen = choices.map(({ delimiter, width }) => `${String(width)} cells with ${JSON.stringify(delimiter)}`);
  throw new ListFileError(
    path,
    `what separates the columns is not certain: its first lines have ${seen.join(', ')}; name it with list.delimiter in the campaign file`,
  );
}

function tryDelimiter(text: string, delimiter: string, isWanted: (cells: string[]) => boolean): Trial {
  const lines = splitFirstLines(text, delimiter);
  const header = lines.find(isWanted);
  const width = header?.length ?? Math.max(0, ...lines.map((cells) => cells.length));
  const equal = lines.filter((cells) => cells.length === width).length;
  return { delimiter, width, fits: header !== undefined, steady: equal > 1 && equal * 2 > lines.length };
}

function splitFirstLines(text: string, delimiter: string): string[][] {
  const lines: string[][] = [];
  try {
    parseSync(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: linesAboveRows,
      on_record: (cells: string[]) => {
        lines.push(cells.map(unwrapped));
        return null;
      },
    });
  } catch {
    // The text may be cut inside quotes; the complete lines before suffice.
  }
  return lines;
}
