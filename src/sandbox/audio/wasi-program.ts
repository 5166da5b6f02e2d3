/** What is used of WebAssembly; the types of Node leave it out, and those of browsers would bring all of a browser. */
interface WebAssemblyRuntime {
  compile(bytes: Uint8Array): Promise<CompiledModule>;
  Instance: new (
    module: CompiledModule,
    imports: Record<string, Record<string, (...values: never[]) => number>>,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly _start: () => void } };
  /** Thrown when a program does what it may not. */
  RuntimeError: new (message: string) => Error;
}

export interface CompiledModule {
  readonly [Symbol.toStringTag]: 'WebAssembly.Module';
}

export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyRuntime }).WebAssembly;

/** What a program left behind. */
interface ProgramResult {
  exitCode: number;
  /** What it wrote, by file name. */
  files: ReadonlyMap<string, Buffer>;
}

const wasi = { success: 0, badDescriptor: 8, notSeekable: 29 } as const;
const rootDescriptor = 3;
const characterDevice = 2;
const directory = 3;
const regularFile = 4;
const allRights = 0xffff_ffff_ffff_ffffn;

/** Ends a program from inside, when it exits by itself. */
class ProgramExit extends Error {
  override readonly name = 'ProgramExit' as const;
  readonly code: number;

  constructor(code: number) {
    super(`The program exited with ${code}.`);
    this.code = code;
  }
}

/** Grows by doubling, so that many small writes stay cheap. */
class MemoryFile {
  #bytes = Buffer.alloc(64 * 1024);
  #length = 0;
  position = 0;

  write(chunk: Uint8Array): void {
    const end = this.position + chunk.length;
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.position);
    this.position = end;
    this.#length = Math.max(this.#length, end);
  }

  get length(): number {
    return this.#length;
  }

  contents(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/**
 * Runs a WASI command once. It sees its arguments and files that it writes itself, in memory; no file of the machine, no
 * environment, no randomness, and a clock that stands still, so that the same arguments leave the same bytes behind.
 */
export function runProgram(module: CompiledModule, programArguments: readonly string[]): ProgramResult {
  const words = programArguments.map((word) => Buffer.from(`${word}\0`));
  const files = new Map<string, MemoryFile>();
  const open = new Map<number, MemoryFile>();
  /** What it says to a terminal, which nobody reads. */
  const terminal = new MemoryFile();
  let memory: { readonly buffer: ArrayBuffer } | undefined;
  const bytes = (): Buffer => Buffer.from(memory?.buffer ?? new ArrayBuffer(0));

  const imports = {
    args_sizes_get(countAt: number, sizeAt: number): number {
      bytes().writeUInt32LE(words.length, countAt);
      bytes().writeUInt32LE(
        words.reduce((sum, word) => sum + word.length, 0),
        sizeAt,
      );
      return wasi.success;
    },
    args_get(pointersAt: number, wordsAt: number): number {
      let at = wordsAt;
      for (const [index, word] of words.entries()) {
        bytes().writeUInt32LE(at, pointersAt + index * 4);
        bytes().set(word, at);
        at += word.length;
      }
      return wasi.success;
    },
    clock_time_get(_clock: number, _precision: bigint, timeAt: number): number {
      bytes().writeBigUInt64LE(0n, timeAt);
      return wasi.success;
    },
    fd_prestat_get(descriptor: number, statAt: number): number {
      if (descriptor !== rootDescriptor) return wasi.badDescriptor;
      bytes().writeUInt32LE(0, statAt);
      bytes().writeUInt32LE(1, statAt + 4);
      return wasi.success;
    },
    fd_prestat_dir_name(_descriptor: number, nameAt: number): number {
      bytes().write('/', nameAt);
      return wasi.success;
    },
    fd_fdstat_get(descriptor: number, statAt: number): number {
      const kind =
        descriptor === rootDescriptor ? directory : descriptor < rootDescriptor ? characterDevice : regularFile;
      bytes().fill(0, statAt, statAt + 24);
      bytes().writeUInt8(kind, statAt);
      bytes().writeBigUInt64LE(allRights, statAt + 8);
      bytes().writeBigUInt64LE(allRights, statAt + 16);
      return wasi.success;
    },
    fd_fdstat_set_flags: (): number => wasi.success,
    path_open(
      _directory: number,
      _lookup: number,
      nameAt: number,
      nameLength: number,
      _openFlags: number,
      _rights: bigint,
      _inherited: bigint,
      _flags: number,
      descriptorAt: number,
    ): number {
      const file = new MemoryFile();
      files.set(bytes().toString('utf8', nameAt, nameAt + nameLength), file);
      const descriptor = rootDescriptor + 1 + open.size;
      open.set(descriptor, file);
      bytes().writeUInt32LE(descriptor, descriptorAt);
      return wasi.success;
    },
    fd_read(_descriptor: number, _vectorsAt: number, _count: number, readAt: number): number {
      bytes().writeUInt32LE(0, readAt);
      return wasi.success;
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, positionAt: number): number {
      const file = open.get(descriptor);
      if (file === undefined) return wasi.notSeekable;
      file.position = [0, file.position, file.length][whence] ?? 0;
      file.position += Number(offset);
      bytes().writeBigUInt64LE(BigInt(file.position), positionAt);
      return wasi.success;
    },
    fd_write(descriptor: number, vectorsAt: number, count: number, writtenAt: number): number {
      const view = bytes();
      const file = descriptor < rootDescriptor ? terminal : open.get(descriptor);
      if (file === undefined) return wasi.badDescriptor;
      let written = 0;
      for (let index = 0; index < count; index += 1) {
        const at = view.readUInt32LE(vectorsAt + index * 8);
        const length = view.readUInt32LE(vectorsAt + index * 8 + 4);
        file.write(view.subarray(at, at + length));
        written += length;
      }
      view.writeUInt32LE(written, writtenAt);
      return wasi.success;
    },
    fd_close: (): number => wasi.success,
    proc_exit(code: number): never {
      throw new ProgramExit(code);
    },
  };

  const { exports } = new webAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  memory = exports.memory;
  let exitCode = 0;
  try {
    // eslint-disable-next-line no-underscore-dangle -- the name is WASI's.
    exports._start();
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error;
    exitCode = error.code;
  }
  return {
    exitCode,
    files: new Map([...files].map(([name, file]) => [name, file.contents()])),
  };
}
