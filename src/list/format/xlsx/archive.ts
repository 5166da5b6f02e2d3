import type { Readable } from 'node:stream';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { describeFileError, ListFileError } from '../../../shared/input/errors.ts';
import { refusalOf } from '../file.ts';

/** Larger parts exceed any real list and would exhaust memory. */
const largestPart = 4 * 1024 * 1024 * 1024;
/** Text compresses up to about 30:1; a ZIP bomb about 1000:1. */
const largestRatio = 250;
const smallPart = 32 * 1024 * 1024;
const mostParts = 10_000;

export class WorkbookArchive {
  readonly #path: string;
  readonly #zip: ZipFile;
  readonly #parts: ReadonlyMap<string, Entry>;

  private constructor(path: string, zip: ZipFile, parts: ReadonlyMap<string, Entry>) {
    this.#path = path;
    this.#zip = zip;
    this.#parts = parts;
  }

  /** @throws ListFileError when the file is no archive, or not a workbook. */
  static async open(path: string): Promise<WorkbookArchive> {
    let zip: ZipFile | null = null;
    try {
      zip = await openPromise(path, { lazyEntries: true, autoClose: false });
      const parts = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        if (parts.size >= mostParts) throw new Error('it has too many parts');
        parts.set(entry.fileName.replace(/^\//, ''), entry);
      }
      refuseOtherArchive(path, parts);
      return new WorkbookArchive(path, zip, parts);
    } catch (error) {
      zip?.close();
      throw explainArchiveFault(path, error);
    }
  }

  has(name: string): boolean {
    return this.#parts.has(name);
  }

  /** Opens a part; its stream checks the size against the archive's directory while it is read. */
  async read(name: string): Promise<Readable> {
    const entry = this.#parts.get(name);
    if (entry === undefined) throw new ListFileError(this.#path, `this workbook is damaged: its part ${name} is missing`);
    if (entry.isEncrypted()) throw new ListFileError(this.#path, 'this workbook is encrypted; save it without a password');
    const { compressedSize, uncompressedSize } = entry;
    const unfolds = uncompressedSize > smallPart && uncompressedSize > compressedSize * largestRatio;
    if (uncompressedSize > largestPart || unfolds) {
      const size = `${String(Math.round(uncompressedSize / 1e6))} MB`;
      throw new ListFileError(this.#path, `this workbook unfolds to ${size}; save the list as "CSV UTF-8" instead`);
    }
    return this.#zip.openReadStreamPromise(entry);
  }

  close(): void {
    this.#zip.close();
  }
}

function refuseOtherArchive(path: string, parts: ReadonlyMap<string, Entry>): void {
  if (parts.has('xl/workbook.bin')) throw new ListFileError(path, refusalOf('a binary Excel workbook (.xlsb)'));
  if (parts.has('[Content_Types].xml') && [...parts.keys()].some((name) => name.startsWith('xl/'))) return;
  const kinds: [string, string][] = [
    ['word/document.xml', 'a Word document (.docx)'],
    ['ppt/presentation.xml', 'a PowerPoint presentation (.pptx)'],
    ['content.xml', 'an OpenDocument file (.ods or the like)'],
  ];
  throw new ListFileError(path, refusalOf(kinds.find(([part]) => parts.has(part))?.[1] ?? 'a ZIP archive'));
}

/** Turns a fault during workbook reading into an error for the user who named the file. */
export function explainArchiveFault(path: string, error: unknown): ListFileError {
  if (error instanceof ListFileError) return error;
  if (error instanceof Error && 'syscall' in error) return new ListFileError(path, describeFileError(error), { cause: error });
  const reason = error instanceof Error ? error.message : String(error);
  return new ListFileError(path, `this ZIP archive or Excel workbook is damaged (${reason}); save it again, or export it as "CSV UTF-8"`, {
    cause: error,
  });
}
